/**
 * Generates code that reads a row: first its bits, then every part into a local variable, which is `undefined` for an
 * absent part.
 */

import { assignment, assignmentBelow, type Code, code, conditional, type LocalName } from "../../../kit/index.js";
import { addOffset, type MethodBody, partHint, refuseIf, takesStatements, viewCode } from "./body.js";
import { readValue, readVarying } from "./reading.js";
import { type Bit, type FieldSlot, mayBeMissing, type Row } from "./row.js";
import { bitNames, declareView, type RowItem } from "./row-item.js";
import { TextRuns } from "./text-runs.js";

export function readRow(body: MethodBody, row: Row, items: readonly RowItem[]): void {
  const runs = new TextRuns(body, items, "read");
  const viewed = row.bitBytes + items.filter(({ slot: place }) => isReadByView(body, place)).length;
  const isViewed = viewed > 1 || runs.any;
  const reading = isViewed && body.view === undefined ? { ...body, view: declareView(body) } : body;
  const bits = readBits(reading, row, items);
  for (const item of items) {
    readItem({ ...reading, ...runs.start(item) }, item, bits);
    runs.end(item);
  }
}

const readByReader: ReadonlySet<string> = new Set(["string", "bytes", "date"]);

/** Returns whether the part is read through the view, and not by a method of the reader or another codec. */
function isReadByView({ codecs }: MethodBody, place: FieldSlot): boolean {
  const { core, value } = place;
  if (codecs.inlinedEnum(core) !== undefined) return !mayBeMissing(place);
  return value === undefined && core.kind === "scalar" && !readByReader.has(core.scalar);
}

function readBits(body: MethodBody, row: Row, items: readonly RowItem[]): readonly LocalName[] {
  const { file, at } = body;
  const bits = bitNames(body, row);
  for (const [i, name] of bits.entries())
    file.line(code`const ${name} = ${viewCode(body)}.getUint8(${addOffset(at, i)});`);
  if (bits.length > 0 && row.lastMask !== 0xff) refuseIf(body, code`${bits.at(-1)!} > ${String(row.lastMask)}`);
  if (items.length === 0) refuseIf(body, code`${viewCode(body)}.getUint8(${at}) !== 0`);
  for (const { present, notNull, value } of items.map(({ slot: place }) => place)) {
    if (present !== undefined && notNull !== undefined) refuseIf(body, contradiction(bits, present, notNull));
    const there = notNull ?? present;
    if (there !== undefined && value !== undefined) refuseIf(body, contradiction(bits, there, value));
  }
  return bits;
}

/** Returns a test for the contradiction that `dependent` is set while `there` is not. */
function contradiction(bits: readonly LocalName[], there: Bit, dependent: Bit): Code {
  if (there.byte !== dependent.byte) return code`!(${isSet(bits, there)}) && ${isSet(bits, dependent)}`;
  return code`(${bits[there.byte]!} & ${String(there.mask | dependent.mask)}) === ${String(dependent.mask)}`;
}

/** Returns the test of a bit: `(bits & 4) !== 0`. */
function isSet(bits: readonly LocalName[], { byte, mask }: Bit): Code {
  return code`(${bits[byte]!} & ${String(mask)}) !== 0`;
}

function readItem(body: MethodBody, item: RowItem, bits: readonly LocalName[]): void {
  const { file, scope } = body;
  const { slot: place, value } = item;
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

function readRequired(body: MethodBody, { name, slot: place, value }: RowItem, bits: readonly LocalName[]): void {
  const { file } = body;
  if (place.value !== undefined) {
    file.line(code`const ${value} = ${isSet(bits, place.value)};`);
    return;
  }
  const at = addOffset(body.at, place.offset!);
  const last = body.codecs.inlinedEnum(place.core);
  if (last !== undefined) {
    file.line(code`const ${value} = ${viewCode(body)}.getUint8(${at}) as ${body.types.type(place.core)};`);
    refuseIf(body, code`${value} > ${String(last)}`);
    return;
  }
  const read = readValue(body, place.core, at, partHint(body.hint, name), value);
  if (read !== value) file.line(assignment(code`const ${value}`, read), ";");
}

/** Reads into the variable `into`: the value if the bit is set, otherwise `absent`. */
function readMissing(
  body: MethodBody,
  { name, slot: place }: RowItem,
  into: LocalName,
  bit: Bit,
  absent: "null" | "undefined",
  bits: readonly LocalName[],
): void {
  const { file } = body;
  const hint = partHint(body.hint, name);
  if (!takesStatements(place.core, body)) {
    const read = place.value === undefined ? readVarying(body, place.core, hint) : isSet(bits, place.value);
    file.line(assignmentBelow(code`const ${into}`, conditional(isSet(bits, bit), read, absent)), ";");
    return;
  }
  const declared = code`let ${into}: ${body.codecs.type(place.core, hint)} | ${absent}`;
  file.line(absent === "null" ? assignment(declared, absent) : declared, ";");
  file.block(code`if (${isSet(bits, bit)})`, () => {
    file.line(code`${into} = ${readVarying(body, place.core, hint)};`);
  });
}
