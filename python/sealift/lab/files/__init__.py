"""Readers and writers of files, in processes that hold something else meanwhile.

What a process holds can't be taken back: once it has had a second thread, the C library locks its
streams for good. So each condition has processes of its own (`process`), which their parent starts
and asks for one sample at a time (`arm`). They end with their parent, whatever ends that one, and
their files have no names, so that nothing is left behind.
"""
