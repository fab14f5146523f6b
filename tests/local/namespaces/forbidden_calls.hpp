#pragma once

namespace sandgate::test {

// What no sandbox may call at all, by name, apart from debugging where its profile allows that.
inline constexpr const char* kForbiddenCalls =
    "mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree "
    "mount_setattr setns swapon swapoff reboot kexec_load kexec_file_load init_module "
    "finit_module delete_module bpf perf_event_open userfaultfd ptrace process_vm_readv "
    "process_vm_writev pidfd_getfd kcmp open_by_handle_at name_to_handle_at quotactl acct syslog "
    "settimeofday clock_settime adjtimex clock_adjtime iopl ioperm add_key request_key keyctl "
    "lookup_dcookie fanotify_init sethostname setdomainname vhangup modify_ldt uselib ustat sysfs "
    "_sysctl move_pages migrate_pages mbind set_mempolicy";

}  // namespace sandgate::test
