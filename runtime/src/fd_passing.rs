//! Hands an open descriptor to another process, over a socket.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Room for the header of one control message and one descriptor in it.
const CONTROL: usize = 64;

/// The kernel wants the buffer of control messages aligned like their header.
#[repr(align(8))]
struct ControlBuffer(MaybeUninit<[u8; CONTROL]>);

/// Sends a descriptor, and a byte that carries it.
pub fn send(socket: BorrowedFd<'_>, descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let mut byte = 0u8;
    with_message(&mut byte, |message| {
        // SAFETY: the buffer behind `message` has room for one header and one descriptor.
        let sent = unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(DESCRIPTOR) as _;
            libc::CMSG_DATA(header)
                .cast::<RawFd>()
                .write_unaligned(descriptor.as_raw_fd());
            (*message).msg_controllen = libc::CMSG_SPACE(DESCRIPTOR) as _;
            libc::sendmsg(socket.as_raw_fd(), message, libc::MSG_NOSIGNAL)
        };
        match sent {
            1 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    })
}

/// Waits for a descriptor. `None` when the other side is gone.
pub fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    let mut byte = 0u8;
    with_message(&mut byte, |message| {
        // SAFETY: the kernel fills in no more than the lengths in `message` allow.
        let received =
            unsafe { libc::recvmsg(socket.as_raw_fd(), message, libc::MSG_CMSG_CLOEXEC) };
        match received {
            0 => return Ok(None),
            1 => {}
            _ => return Err(io::Error::last_os_error()),
        }
        // SAFETY: the kernel wrote the header, if there is one, and the descriptor behind it is
        // open and nobody else's.
        let descriptor = unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let descriptor = libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned();
            OwnedFd::from_raw_fd(descriptor)
        };
        Ok(Some(descriptor))
    })
}

const DESCRIPTOR: libc::c_uint = size_of::<RawFd>() as libc::c_uint;

/// A message of one byte with room for a descriptor.
fn with_message<T>(byte: &mut u8, use_it: impl FnOnce(*mut libc::msghdr) -> T) -> T {
    let mut control = ControlBuffer(MaybeUninit::zeroed());
    let mut part = libc::iovec {
        iov_base: (&raw mut *byte).cast(),
        iov_len: 1,
    };
    // SAFETY: zeros are a valid message without any part.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control.0).cast();
    message.msg_controllen = CONTROL as _;
    use_it(&raw mut message)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_descriptor_arrives_and_works() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut near, far) = UnixStream::pair().unwrap();
        send(here.as_fd(), far.as_fd()).unwrap();
        drop(far);
        let received = receive(there.as_fd()).unwrap().unwrap();
        near.write_all(b"hello").unwrap();
        drop(near);
        let mut heard = String::new();
        UnixStream::from(received)
            .read_to_string(&mut heard)
            .unwrap();
        assert_eq!(heard, "hello");
    }

    #[test]
    fn the_end_of_the_other_side_is_no_error() {
        let (here, there) = UnixStream::pair().unwrap();
        drop(here);
        assert!(receive(there.as_fd()).unwrap().is_none());
    }

    #[test]
    fn a_byte_without_a_descriptor_is_an_error() {
        let (mut here, there) = UnixStream::pair().unwrap();
        here.write_all(&[0]).unwrap();
        assert!(receive(there.as_fd()).is_err());
    }
}
