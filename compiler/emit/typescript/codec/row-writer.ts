/**
 * Writes a row in three steps: tests of all plain scalars, the instructions that store them, and then, in the order of
 * the parts, whatever varies in size.
 */
import { type Code, code, ifStatement, type LocalName } from "../../kit/index.js";
import { type Body, partHint, plus } from "./body.js";
import { type Bit, mayBeMissing, type Row } from "./row.js";
import { bitNames, declareView, type RowItem } from "./row-item.js";
import { plainScalar } from "./scalar.js";
import { TextRuns } from "./text-runs.js";
import { refuseIf, writeReserved, writeValue } from "./writing.js";

export function writeRow(body: Body, row: Row, items: readonly RowItem[]): void {
  const { file, io: w, at } = body;
  const plain = items.filter(isPlain);
  for (const { value, place } of plain) refuseIf(body, plainOf(place.core).refused(value));
  if (plain.length > 0) {
    const view = declareView(body);
    for (const { value, place } of plain) {
      file.line(code`${view}.set${plainOf(place.core).view}(${plus(at, place.slot!)}, ${value}, true);`);
    }
  }
  const bits = bitNames(body, row);
  for (const name of bits) file.line(code`let ${name} = 0;`);
  const runs = new TextRuns(body, items);
  for (const item of items) {
    runs.start(item);
    if (!isPlain(item)) writeItem(body, item, bits, runs);
  }
  for (const [i, name] of bits.entries()) file.line(code`${w}.view.setUint8(${plus(at, i)}, ${name});`);
  if (items.length === 0) file.line(code`${w}.view.setUint8(${at}, 0);`);
}

function isPlain({ place }: RowItem): boolean {
  return !mayBeMissing(place) && place.core.kind === "scalar" && plainScalar(place.core.scalar) !== undefined;
}

function plainOf(core: RowItem["place"]["core"]): NonNullable<ReturnType<typeof plainScalar>> {
  return plainScalar(core.kind === "scalar" ? core.scalar : "double")!;
}

function writeItem(body: Body, item: RowItem, bits: readonly LocalName[], runs: TextRuns): void {
  const { present, notNull } = item.place;
  const write = () => writeThere(body, item, bits, runs);
  const unlessNull = () => whenThere(body, item.value, "null", notNull, bits, write);
  whenThere(body, item.value, "undefined", present, bits, unlessNull);
}

/** What `write` writes, inside an `if` that also sets the bit. */
function whenThere(
  { file }: Body,
  value: LocalName,
  absent: string,
  bit: Bit | undefined,
  bits: readonly LocalName[],
  write: () => void,
): void {
  if (bit === undefined) {
    write();
    return;
  }
  file.block(code`if (${value} !== ${absent})`, () => {
    file.line(setBit(bits, bit));
    write();
  });
}

/** A part that is there. */
function writeThere(body: Body, item: RowItem, bits: readonly LocalName[], runs: TextRuns): void {
  const { name, place, value } = item;
  const hint = partHint(body.hint, name);
  if (place.value !== undefined) {
    refuseIf(body, code`typeof ${value} !== "boolean"`);
    body.file.line(ifStatement(value, setBit(bits, place.value)));
  } else if (runs.has(item)) {
    runs.write(item);
  } else if (place.slot === undefined) {
    writeReserved(body, place.core, value, hint);
  } else {
    writeValue(body, place.core, plus(body.at, place.slot), value, hint);
  }
}

function setBit(bits: readonly LocalName[], { byte, mask }: Bit): Code {
  return code`${bits[byte]!} |= ${String(mask)};`;
}
