import { setTimeout as delay } from "node:timers/promises";
import type { Port } from "viceroy";
import { ArchiveActor } from "../generated/archive.js";

export class SlowArchive extends ArchiveActor {
  readonly #progress: Port<number>;
  #stored = 0;

  constructor(progress: Port<number>) {
    super();
    this.#progress = progress;
  }

  async store(_note: string) {
    this.#stored++;
    if (this.#stored % 50 === 0) await delay(1);
    if (this.#stored % 1000 === 0) await this.#progress.send(this.#stored);
  }
}
