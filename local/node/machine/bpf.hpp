#pragma once
#include <linux/bpf.h>

#include <cstdint>
#include <vector>

#include "gateway/core/fd.hpp"

// BPF programs as the kernel takes them, and the calls that load them. All need root.
namespace sandgate::bpf {

bpf_insn set(uint8_t into, int32_t value);
// Takes an argument, counted from 0, of the kernel function that the program is attached to. Not
// after a call, which loses them.
bpf_insn argument(uint8_t into, int16_t place);
bpf_insn call(int helper);
// Skips `over` instructions if the lower half of the register is so.
bpf_insn jump_if(uint8_t operation, uint8_t reg, int32_t value, int16_t over);
bpf_insn leave();

// Attributes that are all zero, as the kernel requires of those that a command does not use.
bpf_attr no_attributes();
// Runs a command that returns a descriptor. Throws StepError.
Fd open(int command, bpf_attr& attributes, const char* step);
// Loads a program; `function` is what it is attached to by the kernel's type information, if so.
// Throws StepError.
Fd load(bpf_prog_type type, bpf_attach_type attachment, const std::vector<bpf_insn>& code,
        uint32_t function = 0);

}  // namespace sandgate::bpf
