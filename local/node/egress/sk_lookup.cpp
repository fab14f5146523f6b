#include "local/node/egress/sk_lookup.hpp"

#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <vector>

#include "local/namespaces/step_error.hpp"
#include "local/node/machine/bpf.hpp"

namespace sandgate {
namespace {

constexpr uint8_t kCtx = BPF_REG_6, kSocket = BPF_REG_7;

bpf_insn load_word(uint8_t into, size_t offset) {
  return {BPF_LDX | BPF_MEM | BPF_W, into, kCtx, static_cast<int16_t>(offset), 0};
}
bpf_insn move(uint8_t into, uint8_t from) {
  return {BPF_ALU64 | BPF_MOV | BPF_X, into, from, 0, 0};
}

// The BPF program: leaves packets that are not TCP, or are for 127/8 or ::1, to the ordinary socket
// lookup, and assigns all others to the map's only socket.
std::vector<bpf_insn> program(int map) {
  const auto loopback = static_cast<int32_t>(htonl(0x7F000000));
  const auto net_mask = static_cast<int32_t>(htonl(0xFF000000));
  return {
      move(kCtx, BPF_REG_1),
      load_word(BPF_REG_2, offsetof(bpf_sk_lookup, protocol)),
      bpf::jump_if(BPF_JNE, BPF_REG_2, IPPROTO_TCP, 8),
      load_word(BPF_REG_2, offsetof(bpf_sk_lookup, family)),
      bpf::jump_if(BPF_JEQ, BPF_REG_2, AF_INET6, 4),
      load_word(BPF_REG_2, offsetof(bpf_sk_lookup, local_ip4)),
      {BPF_ALU | BPF_AND | BPF_K, BPF_REG_2, 0, 0, net_mask},
      bpf::jump_if(BPF_JEQ, BPF_REG_2, loopback, 3),
      {BPF_JMP | BPF_JA, 0, 0, 4, 0},
      load_word(BPF_REG_2, offsetof(bpf_sk_lookup, local_ip6)),
      bpf::jump_if(BPF_JNE, BPF_REG_2, 0, 2),
      bpf::set(BPF_REG_0, SK_PASS),
      bpf::leave(),
      {BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0},
      {BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map},
      {0, 0, 0, 0, 0},
      move(BPF_REG_2, BPF_REG_10),
      {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4},
      bpf::call(BPF_FUNC_map_lookup_elem),
      {BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 2, 0},  // a pointer needs a 64-bit comparison
      bpf::set(BPF_REG_0, SK_DROP),
      bpf::leave(),
      move(kSocket, BPF_REG_0),
      move(BPF_REG_1, kCtx),
      move(BPF_REG_2, kSocket),
      bpf::set(BPF_REG_3, 0),
      bpf::call(BPF_FUNC_sk_assign),
      move(BPF_REG_1, kSocket),
      bpf::call(BPF_FUNC_sk_release),
      bpf::set(BPF_REG_0, SK_PASS),
      bpf::leave(),
  };
}

Fd map_of(int listener) {
  bpf_attr attributes = bpf::no_attributes();
  attributes.map_type = BPF_MAP_TYPE_SOCKMAP;
  attributes.key_size = 4;
  attributes.value_size = 8;
  attributes.max_entries = 1;
  Fd map = bpf::open(BPF_MAP_CREATE, attributes, "BPF socket map");
  const uint32_t key = 0;
  const uint64_t value = static_cast<uint64_t>(listener);
  attributes = bpf::no_attributes();
  attributes.map_fd = static_cast<uint32_t>(map.get());
  attributes.key = reinterpret_cast<uint64_t>(&key);
  attributes.value = reinterpret_cast<uint64_t>(&value);
  check(syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attributes, sizeof attributes), "BPF socket map");
  return map;
}

}  // namespace

Fd attach_sk_lookup(int listener, int netns) {
  const Fd map = map_of(listener);
  const Fd loaded = bpf::load(BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP, program(map.get()));
  bpf_attr attributes = bpf::no_attributes();
  attributes.link_create.prog_fd = static_cast<uint32_t>(loaded.get());
  attributes.link_create.target_fd = static_cast<uint32_t>(netns);
  attributes.link_create.attach_type = BPF_SK_LOOKUP;
  return bpf::open(BPF_LINK_CREATE, attributes, "BPF socket lookup");
}

}  // namespace sandgate
