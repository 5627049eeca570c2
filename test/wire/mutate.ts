/** Changes to valid messages as an attacker, or a defect, would make them. */

/** Bytes that often mean something: lengths, flags, long forms. */
const meaningful = [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff];

/** A changed copy of `bytes`. */
export function mutate(bytes: Uint8Array, random: () => number): Uint8Array {
  let changed: Uint8Array = bytes.slice();
  const times = 1 + Math.floor(random() * 3);
  for (let i = 0; i < times; i++) changed = once(changed, random);
  return changed;
}

function once(bytes: Uint8Array, random: () => number): Uint8Array {
  const place = (room = 0) => Math.floor(random() * Math.max(1, bytes.length - room));
  const changes: (() => Uint8Array)[] = [
    // A bit, a byte, a number.
    () => bytes.with(place(), bytes[place()]! ^ (1 << Math.floor(random() * 8))),
    () => bytes.with(place(), meaningful[Math.floor(random() * meaningful.length)]!),
    () => bytes.with(place(), Math.floor(random() * 256)),
    () =>
      withUint32(bytes, place(4), [0, 1, 254, 255, bytes.length, 0xffffffff, 0x7fffffff][Math.floor(random() * 7)]!),
    // The head, where the places of heap and blocks are.
    () => withUint32(bytes, random() < 0.5 ? 0 : 4, Math.floor(random() * (bytes.length + 8))),
    // Shorter, longer, a part twice or elsewhere.
    () => bytes.slice(0, place()),
    () => concat(bytes, new Uint8Array(1 + Math.floor(random() * 9))),
    () => concat(bytes.slice(0, place()), bytes.slice(place())),
    () => {
      const [from, to] = [place(), place()];
      const copy = bytes.slice();
      copy.set(bytes.subarray(from, Math.min(from + 8, from + bytes.length - to)), to);
      return copy;
    },
  ];
  if (bytes.length === 0) return new Uint8Array(1 + Math.floor(random() * 8));
  return changes[Math.floor(random() * changes.length)]!();
}

function withUint32(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = bytes.slice();
  if (at + 4 <= copy.length) new DataView(copy.buffer).setUint32(at, value, true);
  return copy;
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
