/**
 * Runs of strings in a row: consecutive parts whose text is written or read in place, without other text between them.
 * The chunk of text, and the place in it, are then local variables, which saves loads and stores of the writer or the
 * reader for each string.
 */
import type { CoreType } from "../../../../model/core-type.js";
import {
  assignmentBelow,
  type Code,
  call,
  code,
  conditional,
  ifStatement,
  type LocalName,
} from "../../../kit/index.js";
import { baseName, derivedName, type MethodBody, refuseIf, type TextLocals, viewCode } from "./body.js";
import { mayBeMissing } from "./row.js";
import type { RowItem } from "./row-item.js";

/**
 * Longer strings do not fit into a slot's length. A chunk of the heap holds `chunkUnits` UTF-16 units
 * (docs/reference/lockstep-layout.md).
 */
const longestShort = 254;
const chunkUnits = 8192;

/** The runs of one row. All parts of a row that is itself part of a run belong to that run. */
export class TextRuns {
  readonly #body: MethodBody;
  readonly #runs: readonly (readonly RowItem[])[];
  readonly #isReading: boolean;
  #locals: TextLocals | undefined;

  constructor(body: MethodBody, items: readonly RowItem[], direction: "read" | "write") {
    this.#body = body;
    this.#isReading = direction === "read";
    const isRun = this.#isReading ? hasLoop : hasSeveral(body);
    this.#runs = body.text === undefined ? splitRuns(body, items).filter(isRun) : [];
  }

  /** Whether the row has runs of its own. */
  get any(): boolean {
    return this.#runs.length > 0;
  }

  has(item: RowItem): boolean {
    return this.#body.text !== undefined || this.#runs.some((run) => run.includes(item));
  }

  /** Loads the text before the first part of a run. Returns the variables for the code of the part. */
  start(item: RowItem): Pick<MethodBody, "text"> {
    if (this.#runs.some((run) => run[0] === item)) this.#load();
    return this.#runs.some((run) => run.includes(item)) ? { text: this.#locals! } : {};
  }

  #load(): void {
    const { file, scope, io } = this.#body;
    const declare = this.#locals === undefined ? "let " : "";
    this.#locals ??= { text: scope.name("text"), ...(this.#isReading && { offset: scope.name("offset") }) };
    const { text, offset } = this.#locals;
    file.line(code`${declare}${text} = ${io}.text;`);
    if (offset !== undefined) file.line(code`${declare}${offset} = ${io}.offset;`);
  }

  /** Stores the text after the last part of a run. */
  end(item: RowItem): void {
    if (!this.#runs.some((run) => run.at(-1) === item)) return;
    const { file, io } = this.#body;
    const { text, offset } = this.#locals!;
    file.line(offset === undefined ? code`${io}.text = ${text};` : code`${io}.offset = ${offset};`);
  }
}

/** Appends a string, which has been tested, to the text. Its length is stored in the slot at `at` unless it is long. */
export function appendText({ file, io: w, text: locals }: MethodBody, at: Code, value: Code): void {
  const { text } = locals!;
  const long = call([w, ".putLong"], [at, code`${value}.length`]);
  file.line(ifStatement(code`${value}.length > ${String(longestShort)}`, [long, ";"]));
  joinText(text, { file, io: w }, value);
}

/** Writes a string of a run with its length. */
export function writeText(body: MethodBody, at: Code, value: Code): void {
  const { file, io: w, text: locals } = body;
  refuseIf(body, code`typeof ${value} !== "string"`);
  file.line(call([w, ".putLength"], [at, code`${value}.length`]), ";");
  joinText(locals!.text, { file, io: w }, value);
}

function joinText(text: LocalName, { file, io: w }: Pick<MethodBody, "file" | "io">, value: Code): void {
  const fits = code`${text}.length + ${value}.length <= ${String(chunkUnits)}`;
  const joined = conditional(fits, code`${text} + ${value}`, call([w, ".nextChunk"], [text, value]));
  file.line(assignmentBelow(text, joined), ";");
}

/** Returns an expression for a string of a run whose length is at `at`. It must be evaluated before the next string. */
export function readText(body: MethodBody, at: Code, into?: LocalName): Code {
  const { file, scope, io: r, text: locals } = body;
  const { text } = locals!;
  const offset = locals!.offset!;
  const length = derivedName(scope, baseName(into), "length");
  file.line(code`let ${length} = ${viewCode(body)}.getUint8(${at});`);
  file.line(code`if (${length} > ${String(longestShort)}) ${length} = ${r}.longLength();`);
  file.block(code`if (${offset} + ${length} > ${text}.length)`, () => {
    file.line(code`${text} = ${r}.nextText(${offset}, ${length});`);
    file.line(code`${offset} = 0;`);
  });
  file.line(code`${offset} += ${length};`);
  return call([text, ".substring"], [code`${offset} - ${length}`, offset]);
}

/** Returns the groups of parts whose text is in place, which text of other parts separates. */
function splitRuns(body: MethodBody, items: readonly RowItem[]): readonly (readonly RowItem[])[] {
  const runs: RowItem[][] = [[]];
  for (const item of items) {
    if (stringsOf(body, item) > 0) runs.at(-1)!.push(item);
    else if (body.layouts.holdsText(item.slot.core)) runs.push([]);
  }
  return runs;
}

/** Reading a string with variables takes several lines, which are worth it where there can be many strings. */
function hasLoop(run: readonly RowItem[]): boolean {
  return run.some(({ slot }) => slot.core.kind === "array");
}

/** Writing a string with variables takes hardly more code than without. */
function hasSeveral(body: MethodBody): (run: readonly RowItem[]) => boolean {
  return (run) => run.reduce((sum, item) => sum + stringsOf(body, item), 0) > 1;
}

function stringsOf(body: MethodBody, { slot }: RowItem): number {
  return stringsInPlace(body, slot.core, mayBeMissing(slot));
}

/**
 * Returns the number of strings of a value all of whose text is in place: 0 for other values, and 2 for an array.
 * @param isVarying whether its slot is in the variable part, where messages are not in place
 */
function stringsInPlace(body: MethodBody, core: CoreType, isVarying: boolean): number {
  if (core.kind === "scalar") return core.scalar === "string" ? 1 : 0;
  if (core.kind === "array") {
    const element = body.layouts.peel(core.element);
    return stringsInPlace(body, element.core, element.nullable) > 0 ? 2 : 0;
  }
  const fields = isVarying ? undefined : body.codecs.inlinedFields(core);
  return fields?.filter(({ type }) => body.layouts.holdsText(type)).length ?? 0;
}
