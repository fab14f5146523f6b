#pragma once

namespace sandgate {

// Brings the loopback of the calling process's network namespace up; nothing else exists in it.
void bring_loopback_up();

}  // namespace sandgate
