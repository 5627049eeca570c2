/**
 * The spares of one mesh of procs on this machine: as many as its options ask for, or otherwise one from the moment on at which
 * something on the mesh would be restarted after a failure. They end with the mesh.
 */
export class MeshSpares {
  readonly #count: number | undefined;
  readonly #keep: (count: number) => () => void;
  #end: (() => void) | undefined;
  #hasEnded = false;

  /**
   * @param count the number of spares that the options ask for
   * @param keep starts to keep spares, and returns a function that ends them
   */
  constructor(count: number | undefined, keep: (count: number) => () => void) {
    this.#count = count;
    this.#keep = keep;
    if (count !== undefined) this.#start(count);
  }

  /** Keeps one spare, unless the options have said how many. */
  expectRestarts(): void {
    if (this.#count === undefined) this.#start(1);
  }

  /** Ends the spares. Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#end?.();
    this.#end = undefined;
  }

  #start(count: number): void {
    if (count === 0 || this.#hasEnded) return;
    this.#end ??= this.#keep(count);
  }
}
