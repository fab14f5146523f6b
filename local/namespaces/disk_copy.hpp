#pragma once
#include <sys/types.h>

#include <functional>

namespace sandgate {

// Makes an empty file the same as another of `size` bytes: by sharing its blocks where the file
// system can, else by copying what is not a hole. Throws StepError, and what `between`
// throws, which is called before each 16 MiB.
void copy_disk(int from, int to, off_t size, const std::function<void()>& between);

}  // namespace sandgate
