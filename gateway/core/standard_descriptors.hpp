#pragma once

namespace sandgate {

// Takes the places of standard input, output and error that the program was started without, so
// that no file or connection opened later gets their numbers and what is meant for a terminal.
// Using them fails still, as on closed ones (EBADF). Call first in main().
void occupy_standard_descriptors();

}  // namespace sandgate
