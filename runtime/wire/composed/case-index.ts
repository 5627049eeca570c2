/** The index of a case in the lockstep layout, for enumerations, unions and oneofs. */
import type { Reader } from "../reader.js";
import { invalidValue } from "../traced-part.js";
import type { Writer } from "../writer.js";

/** Writes and reads an index below `count`: one byte, or two bytes if there are more than 256 cases. */
export class CaseIndex {
  readonly slot: number;
  readonly #count: number;

  constructor(count: number) {
    this.slot = count <= 256 ? 1 : 2;
    this.#count = count;
  }

  write(w: Writer, at: number, index: number): void {
    if (this.slot === 1) w.view.setUint8(at, index);
    else w.view.setUint16(at, index, true);
  }

  read(r: Reader, at: number, type: string): number {
    const index = this.slot === 1 ? r.view.getUint8(at) : r.view.getUint16(at, true);
    if (index >= this.#count) throw invalidValue(type, `a number below ${this.#count}`, index);
    return index;
  }
}
