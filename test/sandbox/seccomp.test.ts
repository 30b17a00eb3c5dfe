import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seccompFilter } from '../../src/sandbox/seccomp.ts';

interface Call {
  arch: number;
  number: number;
  arguments?: number[];
}

/** Runs the program as the kernel does: classic BPF over `struct seccomp_data`. */
function verdict(program: Buffer, call: Call): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.arch, 4);
  for (const [index, value] of (call.arguments ?? []).entries()) data.writeUInt32LE(value, 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const [yes, no] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const value = program.readUInt32LE(at * 8 + 4);
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x15) at += accumulator === value ? yes : no;
    else if (code === 0x35) at += accumulator >= value ? yes : no;
    else if (code === 0x45) at += (accumulator & value) !== 0 ? yes : no;
    else if (code === 0x06) {
      if (value === 0x7fff0000) return 'allow';
      if (value === 0x80000000) return 'kill';
      return `errno ${value & 0xffff}`;
    } else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the program ran over its end');
}

const machines = {
  x64: { arch: 0xc000003e, read: 0, clone: 56, socket: 41, ioctl: 16, mount: 165, ptrace: 101, unshare: 272, bpf: 321 },
  arm64: {
    arch: 0xc00000b7,
    read: 63,
    clone: 220,
    socket: 198,
    ioctl: 29,
    mount: 40,
    ptrace: 117,
    unshare: 97,
    bpf: 280,
  },
};

describe('seccomp filter', () => {
  for (const [name, machine] of Object.entries(machines)) {
    const program = seccompFilter(name);
    const ask = (number: number, ...values: number[]) =>
      verdict(program!, { arch: machine.arch, number, arguments: values });

    it(`${name}: denies what needs no place in a skill, and lets the rest pass`, () => {
      assert.equal(ask(machine.read, 0), 'allow');
      for (const call of ['mount', 'ptrace', 'unshare', 'bpf'] as const)
        assert.equal(ask(machine[call]), 'errno 1', call);
      for (const number of [425, 426, 427, 428, 442]) assert.equal(ask(number), 'errno 1');
      assert.equal(ask(435), 'errno 38', 'clone3');
    });

    it(`${name}: clone makes threads and processes, and no namespaces`, () => {
      assert.equal(ask(machine.clone, 0x3d0f00), 'allow', 'a thread of glibc');
      assert.equal(ask(machine.clone, 17), 'allow', 'a fork');
      for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80])
        assert.equal(ask(machine.clone, 17 | flag), 'errno 1', flag.toString(16));
    });

    it(`${name}: sockets of the families that a network namespace holds back`, () => {
      for (const family of [1, 2, 10, 16]) assert.equal(ask(machine.socket, family), 'allow', String(family));
      for (const family of [0, 17, 38, 40]) assert.equal(ask(machine.socket, family), 'errno 97', String(family));
    });

    it(`${name}: no typing into a terminal`, () => {
      assert.equal(ask(machine.ioctl, 0, 0x5401), 'allow');
      assert.equal(ask(machine.ioctl, 0, 0x5412), 'errno 1');
      assert.equal(ask(machine.ioctl, 0, 0x541c), 'errno 1');
    });

    it(`${name}: other machines' calls end the process`, () => {
      assert.equal(verdict(program!, { arch: 0x40000003, number: 0 }), 'kill');
    });
  }

  it('x64: x32 calls are denied', () => {
    const { arch } = machines.x64;
    assert.equal(verdict(seccompFilter('x64')!, { arch, number: 0x40000000 + 272 }), 'errno 1');
  });

  it('has none for a machine whose numbers it does not know', () => assert.equal(seccompFilter('riscv64'), null));
});
