/**
 * The resources of a host or a bundle, and those of them that are free. GPUs have indices: a whole number of GPUs gets GPUs that nobody else
 * uses, and fractions share the GPU with the least room that is enough. The free amounts become negative if tasks go on after
 * they have waited, while others have what they had before.
 */
import { type Amounts, unitsOfOne } from "./resources.js";

/** Amounts, and the indices of the GPUs among them. */
export interface Share {
  readonly amounts: Amounts;
  readonly gpus: readonly number[];
}

export class Capacity {
  readonly total: Amounts;
  readonly #free: Map<string, number>;
  /** The free units of each GPU, by its index. */
  readonly #gpus: Map<number, number>;

  private constructor(total: Amounts, free: Map<string, number>, gpus: Map<number, number>) {
    this.total = total;
    this.#free = free;
    this.#gpus = gpus;
  }

  /** Returns the capacity of a host, whose GPUs are numbered from 0. */
  static ofHost(total: Amounts): Capacity {
    const gpus = Math.floor((total.get("gpus") ?? 0) / unitsOfOne);
    const whole = new Map(total).set("gpus", gpus * unitsOfOne);
    return new Capacity(
      whole,
      new Map(whole),
      new Map(Array.from({ length: gpus }, (_, index) => [index, unitsOfOne])),
    );
  }

  /** Returns the capacity of a bundle, which is a share of a host. */
  static ofShare({ amounts, gpus }: Share): Capacity {
    const units = unitsOfEach(amounts, gpus);
    return new Capacity(amounts, new Map(amounts), new Map(gpus.map((index) => [index, units])));
  }

  copy(): Capacity {
    return new Capacity(this.total, new Map(this.#free), new Map(this.#gpus));
  }

  /** The amounts that are free. */
  get free(): Amounts {
    return this.#free;
  }

  /** Returns the names of the resources of which not enough is free. */
  lacks(amounts: Amounts): string[] {
    const lacking: string[] = [];
    for (const [name, units] of amounts) {
      const enough = (this.#free.get(name) ?? 0) >= units && (name !== "gpus" || this.#freeGpus(units) !== undefined);
      if (!enough) lacking.push(name);
    }
    return lacking;
  }

  fits(amounts: Amounts): boolean {
    for (const [name, units] of amounts) {
      if ((this.#free.get(name) ?? 0) < units) return false;
      if (name === "gpus" && this.#freeGpus(units) === undefined) return false;
    }
    return true;
  }

  /** Takes amounts that fit. */
  take(amounts: Amounts): Share {
    const units = amounts.get("gpus") ?? 0;
    const share = { amounts, gpus: units === 0 ? [] : this.#freeGpus(units)! };
    this.retake(share);
    return share;
  }

  /** Takes a share, also if it is not free. */
  retake(share: Share): void {
    this.#add(share, -1);
  }

  give(share: Share): void {
    this.#add(share, 1);
  }

  /** Keeps amounts for one who waits for them: they are not free for others even if not all of them are there yet. */
  claim(amounts: Amounts): void {
    const units = amounts.get("gpus") ?? 0;
    // Of the GPUs with most room, so that they become free one day.
    const byRoom = [...this.#gpus].sort(([, a], [, b]) => b - a).map(([index]) => index);
    this.retake({ amounts, gpus: byRoom.slice(0, Math.ceil(units / unitsOfOne)) });
  }

  #add({ amounts, gpus }: Share, sign: 1 | -1): void {
    for (const [name, units] of amounts) this.#free.set(name, (this.#free.get(name) ?? 0) + sign * units);
    const each = unitsOfEach(amounts, gpus);
    for (const index of gpus) this.#gpus.set(index, this.#gpus.get(index)! + sign * each);
  }

  /** Returns the GPUs that are used for an amount, or undefined if they are not free. */
  #freeGpus(units: number): number[] | undefined {
    if (units < unitsOfOne) {
      let best: [index: number, free: number] | undefined;
      for (const [index, free] of this.#gpus) {
        if (free >= units && (best === undefined || free < best[1])) best = [index, free];
      }
      return best && [best[0]];
    }
    const count = units / unitsOfOne;
    const whole: number[] = [];
    for (const [index, free] of this.#gpus) {
      if (free === unitsOfOne && whole.length < count) whole.push(index);
    }
    return whole.length < count ? undefined : whole;
  }
}

function unitsOfEach(amounts: Amounts, gpus: readonly number[]): number {
  return gpus.length === 0 ? 0 : (amounts.get("gpus") ?? 0) / gpus.length;
}
