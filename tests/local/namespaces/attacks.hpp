#pragma once
#include <span>

namespace sandgate::test {

// A bash command line whose last output line is "refused" while the isolation holds.
struct Attack {
  const char* what;
  const char* line;
  // Comma-separated names of the walls without which the sandbox's root succeeds and "broken" is
  // printed; null when the kernel refuses the attack to everyone but the machine's root.
  const char* walls = nullptr;
};

std::span<const Attack> attacks();

// Attacks as Python programs that print "refused" or "broken …".
std::span<const Attack> python_attacks();
const char* python_attack_start();  // the common beginning of these programs

}  // namespace sandgate::test
