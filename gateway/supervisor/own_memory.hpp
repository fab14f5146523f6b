#pragma once

namespace sandgate {

// No core file of this process and of those it starts from now on. Lowers the limit for good.
void forbid_core_dumps();

// Neither does another process of its account read this one's memory, nor a debugger attach. Not
// for who writes the id maps of its children as an ordinary account, and gone with exec.
void hide_memory();

// No program that it starts gains privileges by its file's bits.
void gain_no_privileges();

}  // namespace sandgate
