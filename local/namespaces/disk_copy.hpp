#pragma once
#include <sys/types.h>

#include <atomic>

namespace sandgate {

// Makes an empty file the same as another of `size` bytes: by sharing its blocks where the file
// system can, else by copying what is not a hole. Throws StepError; ECANCELED when `stop` became
// true meanwhile.
void copy_disk(int from, int to, off_t size, const std::atomic<bool>* stop = nullptr);

}  // namespace sandgate
