/** Bytes that wait for their reader, in pages, so that many small pieces cost no more memory than a few large ones. */

const PAGE_BYTES = 4 * 1024;

interface Page {
  readonly bytes: Uint8Array;
  fill: number;
}

export class HeldBytes {
  readonly #pages: Page[] = [];

  get isEmpty(): boolean {
    return this.#pages.length === 0;
  }

  /** Copies bytes. */
  add(bytes: Uint8Array): void {
    let page = this.#pages.at(-1);
    if (page === undefined || page.bytes.length - page.fill < bytes.length) {
      page = { bytes: new Uint8Array(Math.max(PAGE_BYTES, bytes.length)), fill: 0 };
      this.#pages.push(page);
    }
    page.bytes.set(bytes, page.fill);
    page.fill += bytes.length;
  }

  /** Removes the first bytes. @returns undefined if there are none */
  shift(): Uint8Array | undefined {
    const page = this.#pages.shift();
    return page?.bytes.subarray(0, page.fill);
  }

  clear(): void {
    this.#pages.length = 0;
  }
}
