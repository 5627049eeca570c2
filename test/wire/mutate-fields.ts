/** Changes a message of the protobuf layout field by field: other orders, fields that come twice, split, or are unknown. */

type Random = () => number;

interface Field {
  readonly number: number;
  readonly wire: number;
  /** Behind the tag. */
  readonly value: Uint8Array;
}

/** The fields of a message; undefined if it is none, or has groups. */
function parse(bytes: Uint8Array): Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number | undefined => {
    let value = 0;
    for (let i = 0; i < 10; i++) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value += (byte & 127) * 2 ** (7 * i);
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag === undefined || tag < 8 || tag > 0xffffffff) return undefined;
    const wire = tag % 8;
    const start = at;
    if (wire === 0) {
      if (varint() === undefined) return undefined;
    } else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === 2) {
      const length = varint();
      if (length === undefined) return undefined;
      at += length;
    } else return undefined;
    if (at > bytes.length) return undefined;
    fields.push({ number: Math.floor(tag / 8), wire, value: bytes.slice(start, at) });
  }
  return fields;
}

function varintBytes(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

function print(fields: readonly Field[]): Uint8Array {
  return Uint8Array.from(fields.flatMap(({ number, wire, value }) => [...varintBytes(number * 8 + wire), ...value]));
}

function withLength(content: ArrayLike<number>): Uint8Array {
  return Uint8Array.from([...varintBytes(content.length), ...Array.from(content)]);
}

/** The bytes after the length. */
function contentOf(value: Uint8Array): Uint8Array {
  let at = 0;
  while ((value[at] as number) > 127) at++;
  return value.subarray(at + 1);
}

/**
 * A message with fields of any kind, in any order; it may not be one of the type any more.
 * @param strange whether fields may get other wire types than they had, and unknown ones come
 */
export function mutateFields(bytes: Uint8Array, random: Random, strange = true, depth = 3): Uint8Array {
  const fields = parse(bytes);
  if (fields === undefined) return bytes;
  const pick = (count: number): number => Math.floor(random() * count);
  const changed = fields.flatMap((field): Field[] => {
    if (random() < 0.6) return [field];
    if (field.wire !== 2) return random() < 0.5 ? [field, field] : [field];
    const content = contentOf(field.value);
    const inner = parse(content);
    switch (pick(6)) {
      case 0:
        return [field, field];
      case 1:
        return split(field, inner, pick);
      case 2:
        return strange ? unpack(field, content, pick(3)) : [field];
      case 3:
        return depth > 0
          ? [{ ...field, value: withLength(mutateFields(content, random, strange, depth - 1)) }]
          : [field];
      case 4:
        return [{ ...field, value: withLength([]) }, field];
      default:
        return [];
    }
  });
  if (strange && random() < 0.3) changed.push(...unknownFields(pick));
  for (let i = changed.length - 1; i > 0 && random() < 0.7; i--) {
    const j = pick(i + 1);
    [changed[i], changed[j]] = [changed[j] as Field, changed[i] as Field];
  }
  return print(changed);
}

/** A message in two parts, which a reader merges. */
function split(field: Field, inner: Field[] | undefined, pick: (count: number) => number): Field[] {
  if (inner === undefined) return [field];
  const at = pick(inner.length + 1);
  return [inner.slice(0, at), inner.slice(at)].map((part) => ({ ...field, value: withLength(print(part)) }));
}

/** The elements of a packed field, one by one. */
function unpack(field: Field, content: Uint8Array, kind: number): Field[] {
  const { number } = field;
  if (kind > 0) {
    const [wire, size] = kind === 1 ? [1, 8] : [5, 4];
    if (content.length % size !== 0) return [field];
    const count = content.length / size;
    return Array.from({ length: count }, (_, i) => ({ number, wire, value: content.slice(i * size, (i + 1) * size) }));
  }
  const found: Field[] = [];
  for (let at = 0, start = 0; at < content.length; at++) {
    if ((content[at] as number) > 127) continue;
    found.push({ number, wire: 0, value: content.slice(start, at + 1) });
    start = at + 1;
  }
  return found;
}

function unknownFields(pick: (count: number) => number): Field[] {
  const number = 1 + pick(3) * 1000 + pick(40);
  switch (pick(4)) {
    case 0:
      return [{ number, wire: 0, value: Uint8Array.from([0x80 + pick(128), pick(128)]) }];
    case 1:
      return [{ number, wire: 2, value: withLength([1, 2, 3]) }];
    case 2:
      return [{ number, wire: 3, value: Uint8Array.from([0x08, pick(128), ...varintBytes(number * 8 + 4)]) }];
    default:
      return [{ number, wire: 5, value: Uint8Array.from([1, 2, 3, 4]) }];
  }
}
