/**
 * The system call filter of the sandbox as a classic BPF program, the bytes that `bwrap --seccomp FD` reads. It denies
 * what namespaces do not take away: new namespaces and mounts, looking into other processes, kernel interfaces with a
 * history of holes, sockets that no network namespace holds back, and typing into the operator's terminal.
 */
import { type Architecture, systemCalls } from './syscalls.ts';

/** Offsets into `struct seccomp_data`; both machines are little-endian, so an argument's low word comes first. */
const numberAt = 0;
const architectureAt = 4;
const argumentAt = (index: number) => 16 + 8 * index;

const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfAnyBit = 0x45;
const finish = 0x06;

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const fail = (errno: number) => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWTIME. */
const newNamespaces = 0x00020000 | 0x7e000000 | 0x00000080;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (which getaddrinfo asks). AF_VSOCK would reach the host of a virtual machine. */
const socketFamilies = [1, 2, 10, 16];
/** TIOCSTI and TIOCLINUX put characters into a terminal's input. */
const terminalInput = [0x5412, 0x541c];

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

/** Null where the numbers of the machine's system calls are not known. */
export function seccompFilter(machine: string): Buffer | null {
  if (machine !== 'x64' && machine !== 'arm64') return null;
  return assemble(filterFor(machine));
}

function filterFor(machine: Architecture): Instruction[] {
  const calls = systemCalls[machine];
  const foreign: Instruction[] =
    calls.foreignFrom === null
      ? []
      : [
          [jumpIfAtLeast, 0, 1, calls.foreignFrom],
          [finish, 0, 0, fail(EPERM)],
        ];
  return [
    [loadWord, 0, 0, architectureAt],
    [jumpIfEqual, 1, 0, calls.audit],
    [finish, 0, 0, killProcess],
    [loadWord, 0, 0, numberAt],
    ...foreign,
    // A C library that does not find clone3 takes clone, whose flags can be read here.
    [jumpIfEqual, 0, 1, calls.clone3],
    [finish, 0, 0, fail(ENOSYS)],
    ...Object.values(calls.denied).flatMap((number): Instruction[] => [
      [jumpIfEqual, 0, 1, number],
      [finish, 0, 0, fail(EPERM)],
    ]),
    ...whenCalled(calls.clone, 0, [
      [jumpIfAnyBit, 0, 1, newNamespaces],
      [finish, 0, 0, fail(EPERM)],
      [finish, 0, 0, allow],
    ]),
    ...whenCalled(calls.ioctl, 1, [
      ...terminalInput.flatMap((request): Instruction[] => [
        [jumpIfEqual, 0, 1, request],
        [finish, 0, 0, fail(EPERM)],
      ]),
      [finish, 0, 0, allow],
    ]),
    ...whenCalled(calls.socket, 0, [
      ...socketFamilies.flatMap((family): Instruction[] => [
        [jumpIfEqual, 0, 1, family],
        [finish, 0, 0, allow],
      ]),
      [finish, 0, 0, fail(EAFNOSUPPORT)],
    ]),
    [finish, 0, 0, allow],
  ];
}

/** `then` sees the low word of one argument and must finish. */
function whenCalled(number: number, argument: number, then: readonly Instruction[]): Instruction[] {
  return [[jumpIfEqual, 0, then.length + 1, number], [loadWord, 0, 0, argumentAt(argument)], ...then];
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
