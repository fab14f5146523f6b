#include "local/node/machine/kernel_function.hpp"

#include <linux/btf.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "gateway/core/files.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr const char* kTypes = "/sys/kernel/btf/vmlinux";

// Bytes that follow an entry of this kind; none for a kind that is not known.
std::optional<size_t> bytes_behind(uint32_t info) {
  const size_t members = BTF_INFO_VLEN(info);
  switch (BTF_INFO_KIND(info)) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG:
      return 4;
    case BTF_KIND_ARRAY:
      return sizeof(btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_DATASEC:
    case BTF_KIND_ENUM64:
      return members * 12;
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
      return members * 8;
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case BTF_KIND_FLOAT:
    case BTF_KIND_TYPE_TAG:
      return 0;
    default:
      return std::nullopt;
  }
}

// Refuses when the process's user id lies in the range.
std::vector<bpf_insn> refusal(uint32_t first, uint32_t last) {
  const auto id_is = [](uint8_t operation, uint32_t id, int16_t over) {
    return bpf::jump_if(operation, BPF_REG_0, static_cast<int32_t>(id), over);
  };
  return {bpf::call(BPF_FUNC_get_current_uid_gid),
          id_is(BPF_JLT, first, 3),
          id_is(BPF_JGT, last, 2),
          bpf::set(BPF_REG_0, -EPERM),
          bpf::leave(),
          bpf::set(BPF_REG_0, 0),
          bpf::leave()};
}

}  // namespace

uint32_t btf_function(const std::string& btf, const std::string& name) {
  btf_header header{};
  if (btf.size() < sizeof header) return 0;
  std::memcpy(&header, btf.data(), sizeof header);
  const uint64_t types = uint64_t{header.hdr_len} + header.type_off;
  const uint64_t names = uint64_t{header.hdr_len} + header.str_off;
  const uint64_t end = types + header.type_len;
  if (header.magic != BTF_MAGIC || end > btf.size()) return 0;
  uint64_t at = types;
  for (uint32_t id = 1; at + sizeof(btf_type) <= end; ++id) {
    btf_type type{};
    std::memcpy(&type, btf.data() + at, sizeof type);
    const auto behind = bytes_behind(type.info);
    if (!behind) return 0;
    const uint64_t named = names + type.name_off;
    if (BTF_INFO_KIND(type.info) == BTF_KIND_FUNC && named + name.size() < btf.size() &&
        std::memcmp(btf.data() + named, name.c_str(), name.size() + 1) == 0)
      return id;
    at += sizeof type + *behind;
  }
  return 0;
}

Fd refuse_in_kernel(const char* function, uint32_t first, uint32_t last,
                    std::vector<bpf_insn> condition) {
  const uint32_t asked = btf_function(read_text_file(kTypes).value_or(""), function);
  if (asked == 0) throw StepError(kTypes, ENOENT);
  std::vector<bpf_insn> code = std::move(condition);
  for (const bpf_insn& one : refusal(first, last)) code.push_back(one);
  const Fd loaded = bpf::load(BPF_PROG_TYPE_TRACING, BPF_MODIFY_RETURN, code, asked);
  bpf_attr attributes = bpf::no_attributes();
  attributes.raw_tracepoint.prog_fd = static_cast<uint32_t>(loaded.get());
  return bpf::open(BPF_RAW_TRACEPOINT_OPEN, attributes, "BPF attachment");
}

std::optional<std::pair<int, int>> kernel_version() {
  utsname system{};
  uname(&system);
  int major = 0, minor = 0;
  if (std::sscanf(system.release, "%d.%d", &major, &minor) != 2) return std::nullopt;
  return std::pair(major, minor);
}

}  // namespace sandgate
