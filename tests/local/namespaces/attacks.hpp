#pragma once
#include <span>

namespace sandgate::test {

// A line for bash that prints "refused" as its last line while the wall holds.
struct Attack {
  const char* what;
  const char* line;
  // The walls (names with commas) without which the sandbox's root succeeds and "broken" is
  // printed; null where the kernel itself refuses whoever is not root of the machine.
  const char* walls = nullptr;
};

std::span<const Attack> attacks();

// A Python program that prints "refused" or "broken …", likewise.
std::span<const Attack> python_attacks();
const char* python_attack_start();  // goes before each of those

}  // namespace sandgate::test
