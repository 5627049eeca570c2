/**
 * Runs of strings in a row: consecutive strings without other text between them. Their text is concatenated in a local
 * variable, which saves a store to the writer for each string.
 */
import { assignmentBelow, call, code, conditional, ifStatement, type LocalName } from "../../../kit/index.js";
import { addOffset, type MethodBody } from "./body.js";
import { mayBeMissing } from "./row.js";
import type { RowItem } from "./row-item.js";
import { refuseIf } from "./writing.js";

/**
 * Longer strings do not fit into a slot's length. A chunk of the heap holds `chunkUnits` UTF-16 units
 * (docs/reference/lockstep-layout.md).
 */
const longestShort = 254;
const chunkUnits = 8192;

export class TextRuns {
  readonly #body: MethodBody;
  readonly #runs: readonly (readonly RowItem[])[];
  #text: LocalName | undefined;

  constructor(body: MethodBody, items: readonly RowItem[]) {
    this.#body = body;
    this.#runs = findRuns(body, items);
  }

  has(item: RowItem): boolean {
    return this.#runs.some((run) => run.includes(item));
  }

  /** Loads the text before the first string of a run. */
  start(item: RowItem): void {
    if (!this.#runs.some((run) => run[0] === item)) return;
    const { file, scope, io: w } = this.#body;
    if (this.#text !== undefined) {
      file.line(code`${this.#text} = ${w}.text;`);
    } else {
      this.#text = scope.name("text");
      file.line(code`let ${this.#text} = ${w}.text;`);
    }
  }

  /**
   * Writes a string of a run. If its slot has a fixed offset, the length is already stored. The last string of a run
   * stores the text.
   */
  write(item: RowItem): void {
    const { file, io: w, at } = this.#body;
    const { slot: place, value } = item;
    if (place.offset === undefined) {
      refuseIf(this.#body, code`typeof ${value} !== "string"`);
      file.line(call([w, ".putLength"], [code`${w}.reserve(1)`, code`${value}.length`]), ";");
    } else {
      const long = call([w, ".putLong"], [addOffset(at, place.offset), code`${value}.length`]);
      file.line(ifStatement(code`${value}.length > ${String(longestShort)}`, [long, ";"]));
    }
    const isLast = this.#runs.some((run) => run.at(-1) === item);
    const fits = code`${this.#text!}.length + ${value}.length <= ${String(chunkUnits)}`;
    const next = call([w, ".nextChunk"], [this.#text!, value]);
    const joined = conditional(fits, code`${this.#text!} + ${value}`, next);
    file.line(assignmentBelow(isLast ? code`${w}.text` : this.#text!, joined), ";");
  }
}

/**
 * Returns the runs of two or more strings. Each run ends with a string that is always present, so that the text is
 * always stored.
 */
function findRuns(body: MethodBody, items: readonly RowItem[]): readonly (readonly RowItem[])[] {
  const runs: RowItem[][] = [[]];
  for (const item of items) {
    const { core } = item.slot;
    if (core.kind === "scalar" && core.scalar === "string") runs.at(-1)!.push(item);
    else if (body.layouts.holdsText(core)) runs.push([]);
  }
  for (const run of runs) while (run.length > 0 && mayBeMissing(run.at(-1)!.slot)) run.pop();
  return runs.filter((run) => run.length > 1);
}
