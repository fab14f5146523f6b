#include "local/node/machine/bpf.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "local/namespaces/step_error.hpp"

namespace sandgate::bpf {

bpf_insn set(uint8_t into, int32_t value) {
  return {BPF_ALU64 | BPF_MOV | BPF_K, into, 0, 0, value};
}

bpf_insn argument(uint8_t into, int16_t place) {
  return {BPF_LDX | BPF_MEM | BPF_DW, into, BPF_REG_1, static_cast<int16_t>(place * 8), 0};
}

bpf_insn call(int helper) { return {BPF_JMP | BPF_CALL, 0, 0, 0, helper}; }

bpf_insn jump_if(uint8_t operation, uint8_t reg, int32_t value, int16_t over) {
  return {static_cast<uint8_t>(BPF_JMP32 | operation | BPF_K), reg, 0, over, value};
}

bpf_insn leave() { return {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}; }

bpf_attr no_attributes() {
  bpf_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);  // {} may clear only one member of a union
  return attributes;
}

Fd open(int command, bpf_attr& attributes, const char* step) {
  return check_fd(static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof attributes)),
                  step);
}

Fd load(bpf_prog_type type, bpf_attach_type attachment, const std::vector<bpf_insn>& code,
        uint32_t function) {
  bpf_attr attributes = no_attributes();
  attributes.prog_type = type;
  attributes.expected_attach_type = attachment;
  attributes.attach_btf_id = function;
  attributes.insns = reinterpret_cast<uint64_t>(code.data());
  attributes.insn_cnt = static_cast<uint32_t>(code.size());
  attributes.license = reinterpret_cast<uint64_t>("Apache-2.0");
  return open(BPF_PROG_LOAD, attributes, "BPF program");
}

}  // namespace sandgate::bpf
