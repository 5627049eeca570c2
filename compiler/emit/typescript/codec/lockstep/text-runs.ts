/**
 * Runs of strings in a row: strings that follow each other with nothing between them that adds text of its own. Their
 * text is joined in a local variable, which spares a store into the writer for each.
 */
import { assignmentBelow, call, code, conditional, ifStatement, type LocalName } from "../../../kit/index.js";
import { addOffset, type MethodBody } from "./body.js";
import { mayBeMissing } from "./row.js";
import type { RowItem } from "./row-item.js";
import { refuseIf } from "./writing.js";

/** Lengths from here on do not fit into their slots; chunks of the heap hold so many units (docs/reference/lockstep-layout.md). */
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

  /** Loads the text in front of the first string of a run. */
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

  /** The length is in its slot already if that is at a fixed place. The last string of a run puts the text back. */
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

/** Runs of two and more, each up to a string that is always there, so that the text is always put back. */
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
