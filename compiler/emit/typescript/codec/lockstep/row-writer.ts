/**
 * Generates code that writes a row in three steps: tests of all plain scalars, instructions that store them, and then
 * the variable part in the order of the parts.
 */
import { type Code, call, code, ifStatement, type LocalName } from "../../../kit/index.js";
import { addOffset, type MethodBody, partHint, refuseIf } from "./body.js";
import { type Bit, mayBeMissing, type Row } from "./row.js";
import { bitNames, declareView, type RowItem } from "./row-item.js";
import { plainScalar } from "./scalar.js";
import { appendText, TextRuns } from "./text-runs.js";
import { writeValue, writeVarying } from "./writing.js";

export function writeRow(body: MethodBody, row: Row, items: readonly RowItem[]): void {
  const { file, io: w, at } = body;
  const runs = new TextRuns(body, items, "write");
  const plain = items.flatMap((item) => {
    const steps = plainSteps(body, item, runs);
    return steps === undefined ? [] : [{ ...steps, slot: item.slot.offset! }];
  });
  for (const { refused } of plain) refuseIf(body, refused);
  if (plain.length > 0) {
    const view = declareView(body);
    for (const { instruction, stored, slot } of plain) {
      file.line(call(code`${view}.set${instruction}`, [addOffset(at, slot), ...stored]), ";");
    }
  }
  const bits = bitNames(body, row);
  for (const name of bits) file.line(code`let ${name} = 0;`);
  for (const item of items) {
    const inRun = { ...body, ...runs.start(item) };
    if (plainSteps(body, item, runs) === undefined || isString(item)) writeItem(inRun, item, bits);
    runs.end(item);
  }
  for (const [i, name] of bits.entries()) file.line(code`${w}.view.setUint8(${addOffset(at, i)}, ${name});`);
  if (items.length === 0) file.line(code`${w}.view.setUint8(${at}, 0);`);
}

interface PlainSteps {
  readonly refused: Code;
  /** The DataView type that is stored, and the stored arguments. */
  readonly instruction: string;
  readonly stored: readonly Code[];
}

/**
 * Returns the steps for parts that are tested and stored before the variable part: plain scalars, and the lengths of
 * strings in runs.
 */
function plainSteps({ codecs }: MethodBody, item: RowItem, runs: TextRuns): PlainSteps | undefined {
  const { slot: place, value } = item;
  if (mayBeMissing(place)) return undefined;
  const last = codecs.inlinedEnum(place.core);
  if (last !== undefined) {
    const refused = code`${value} !== ${value} >>> 0 || ${value} > ${String(last)}`;
    return { refused, instruction: "Uint8", stored: [value] };
  }
  if (place.core.kind !== "scalar") return undefined;
  if (isString(item) && runs.has(item)) {
    return { refused: code`typeof ${value} !== "string"`, instruction: "Uint8", stored: [code`${value}.length`] };
  }
  const plain = plainScalar(place.core.scalar);
  return plain && { refused: plain.refused(value), instruction: plain.view, stored: [value, "true"] };
}

function isString({ slot: { core } }: RowItem): boolean {
  return core.kind === "scalar" && core.scalar === "string";
}

function writeItem(body: MethodBody, item: RowItem, bits: readonly LocalName[]): void {
  const { present, notNull } = item.slot;
  const write = () => writePresent(body, item, bits);
  const unlessNull = () => emitIfPresent(body, item.value, "null", notNull, bits, write);
  emitIfPresent(body, item.value, "undefined", present, bits, unlessNull);
}

/** Emits the output of `write` inside an `if` that also sets the bit. */
function emitIfPresent(
  { file }: MethodBody,
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

/** Writes a part that is present. */
function writePresent(body: MethodBody, item: RowItem, bits: readonly LocalName[]): void {
  const { name, slot: place, value } = item;
  const hint = partHint(body.hint, name);
  if (place.value !== undefined) {
    refuseIf(body, code`typeof ${value} !== "boolean"`);
    body.file.line(ifStatement(value, setBit(bits, place.value)));
  } else if (place.offset !== undefined && isString(item) && body.text !== undefined) {
    appendText(body, addOffset(body.at, place.offset), value);
  } else if (place.offset === undefined) {
    writeVarying(body, place.core, value, hint);
  } else {
    writeValue(body, place.core, addOffset(body.at, place.offset), value, hint);
  }
}

function setBit(bits: readonly LocalName[], { byte, mask }: Bit): Code {
  return code`${bits[byte]!} |= ${String(mask)};`;
}
