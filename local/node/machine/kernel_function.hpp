#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/core/fd.hpp"
#include "local/node/machine/bpf.hpp"

// Functions by which the kernel asks whether it may do something, answered by BPF programs.
namespace sandgate {

// The id of the function `name` in a kernel's type information (BTF), 0 when it has none or is
// malformed.
uint32_t btf_function(const std::string& btf, const std::string& name);

// Has the kernel refuse (EPERM) what it asks of `function` for processes of the host's user ids
// from `first` to `last`, until the descriptor and all its copies are closed. `condition` is code
// before that, which returns 0 when something else is asked. Needs a kernel with BPF and
// type information, and root. Throws StepError.
Fd refuse_in_kernel(const char* function, uint32_t first, uint32_t last,
                    std::vector<bpf_insn> condition = {});

// Major and minor; empty when it is not known.
std::optional<std::pair<int, int>> kernel_version();

}  // namespace sandgate
