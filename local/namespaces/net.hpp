#pragma once

namespace sandgate {

// Brings the loopback of the calling process's network namespace up; nothing else exists in it.
void bring_loopback_up();

// Keeps what connections that nobody has accepted hold small: the kernel charges it to no control
// group. Left out where these settings cannot be written.
void bound_unaccepted();

}  // namespace sandgate
