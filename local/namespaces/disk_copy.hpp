#pragma once
#include <sys/types.h>

#include <functional>

namespace sandgate {

// Copies a file of `size` bytes to an empty file: as a reflink if the file system supports it, else
// by copying data and leaving holes. Calls `between` before each piece of at most 16 MiB. Throws
// StepError and whatever `between` throws.
void copy_disk(int from, int to, off_t size, const std::function<void()>& between);

}  // namespace sandgate
