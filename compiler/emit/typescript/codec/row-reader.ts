/** Reads a row: its bits, and then every part into a local variable, `undefined` if it is not there. */

import { assignment, assignmentBelow, type Code, code, conditional, type LocalName } from "../../kit/index.js";
import { type Body, isLooped, partHint, plus, viewOf } from "./body.js";
import { readTaken, readValue } from "./reading.js";
import { type Bit, mayBeMissing, type Place, type Row } from "./row.js";
import { bitNames, declareView, type RowItem } from "./row-item.js";
import { refuseIf } from "./writing.js";

export function readRow(body: Body, row: Row, items: readonly RowItem[]): void {
  const viewed = row.bytes + items.filter(({ place }) => isViewed(place)).length;
  const reading = viewed > 1 && body.view === undefined ? { ...body, view: declareView(body) } : body;
  const bits = readBits(reading, row, items);
  for (const item of items) readItem(reading, item, bits);
}

const readByReader: ReadonlySet<string> = new Set(["string", "bytes", "date"]);

/** Whether the part is read through the view, rather than by the reader or by another codec. */
function isViewed({ core, value }: Place): boolean {
  return value === undefined && core.kind === "scalar" && !readByReader.has(core.scalar);
}

function readBits(body: Body, row: Row, items: readonly RowItem[]): readonly LocalName[] {
  const { file, at } = body;
  const bits = bitNames(body, row);
  for (const [i, name] of bits.entries()) file.line(code`const ${name} = ${viewOf(body)}.getUint8(${plus(at, i)});`);
  if (bits.length > 0 && row.lastMask !== 0xff) refuseIf(body, code`${bits.at(-1)!} > ${String(row.lastMask)}`);
  if (items.length === 0) refuseIf(body, code`${viewOf(body)}.getUint8(${at}) !== 0`);
  for (const { present, notNull, value } of items.map(({ place }) => place)) {
    if (present !== undefined && notNull !== undefined) refuseIf(body, contradiction(bits, present, notNull));
    const there = notNull ?? present;
    if (there !== undefined && value !== undefined) refuseIf(body, contradiction(bits, there, value));
  }
  return bits;
}

/** `dependent` is set although what it depends on is not there. */
function contradiction(bits: readonly LocalName[], there: Bit, dependent: Bit): Code {
  if (there.byte !== dependent.byte) return code`!(${isSet(bits, there)}) && ${isSet(bits, dependent)}`;
  return code`(${bits[there.byte]!} & ${String(there.mask | dependent.mask)}) === ${String(dependent.mask)}`;
}

/** `(bits & 4) !== 0`. */
function isSet(bits: readonly LocalName[], { byte, mask }: Bit): Code {
  return code`(${bits[byte]!} & ${String(mask)}) !== 0`;
}

function readItem(body: Body, item: RowItem, bits: readonly LocalName[]): void {
  const { file, scope } = body;
  const { place, value } = item;
  if (!mayBeMissing(place)) {
    readRequired(body, item, bits);
    return;
  }
  const { present, notNull } = place;
  if (present === undefined) readMissing(body, item, value, notNull!, "null", bits);
  else if (notNull === undefined) readMissing(body, item, value, present, "undefined", bits);
  else {
    const inner = scope.name(`${value.wanted}OrNull`);
    readMissing(body, item, inner, notNull, "null", bits);
    file.line(assignmentBelow(code`const ${value}`, conditional(isSet(bits, present), inner, "undefined")), ";");
  }
}

function readRequired(body: Body, { name, place, value }: RowItem, bits: readonly LocalName[]): void {
  const { file } = body;
  if (place.value !== undefined) {
    file.line(code`const ${value} = ${isSet(bits, place.value)};`);
    return;
  }
  const read = readValue(body, place.core, plus(body.at, place.slot!), partHint(body.hint, name), value);
  if (read !== value) file.line(assignment(code`const ${value}`, read), ";");
}

/** Into the variable `into`: the value if the bit is set, else `absent`. */
function readMissing(
  body: Body,
  { name, place }: RowItem,
  into: LocalName,
  bit: Bit,
  absent: "null" | "undefined",
  bits: readonly LocalName[],
): void {
  const { file, layouts } = body;
  const hint = partHint(body.hint, name);
  if (!isLooped(place.core, layouts)) {
    const read = place.value === undefined ? readTaken(body, place.core, hint) : isSet(bits, place.value);
    file.line(assignmentBelow(code`const ${into}`, conditional(isSet(bits, bit), read, absent)), ";");
    return;
  }
  const declared = code`let ${into}: ${body.codecs.type(place.core, hint)} | ${absent}`;
  file.line(absent === "null" ? assignment(declared, absent) : declared, ";");
  file.block(code`if (${isSet(bits, bit)})`, () => {
    file.line(code`${into} = ${readTaken(body, place.core, hint)};`);
  });
}
