/** Batches, and the pages of memory that they are written in. */
import { describe, expect, test } from "vitest";
import { Batch } from "../../runtime/wire/batch.js";
import { CodecRefusal } from "../../runtime/wire/codec-refusal.js";
import {
  MAX_MESSAGE_BYTES,
  MAX_RECYCLED_BYTES,
  MIN_DETACHED_BYTES,
  STANDARD_PAGE_BYTES,
} from "../../runtime/wire/limits.js";
import { newPage, type Page, returnPage, takePage } from "../../runtime/wire/page.js";

/** Returns a batch with the bytes 1, 2, 3, and so on. */
function filled(size: number, first = 64): Batch {
  const batch = new Batch(first);
  const at = batch.reserve(size);
  for (let i = 0; i < size; i++) batch.bytes[at + i] = i + 1;
  return batch;
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => (from + i + 1) & 255);

describe("a copy", () => {
  test.each([0, 1, 31, 32, 33, 60])("of %i bytes has the written bytes, then zeros for the requested room", (size) => {
    const batch = filled(size + 3);
    for (const room of [0, 5]) {
      const copy = batch.copy(3, room);
      expect([...copy]).toEqual([...numbers(3, size + 3), ...new Array(room).fill(0)]);
      expect(copy.constructor).toBe(Uint8Array);
      expect(copy.buffer.byteLength).toBe(size + room);
    }
  });
});

describe("a detached batch", () => {
  test("is empty, and its content is a copy if it is small", () => {
    const batch = filled(60);
    const page = batch.bytes.buffer;
    const content = batch.detach();
    expect([...content]).toEqual(numbers(0, 60));
    expect([content.buffer === page, content.buffer.byteLength, batch.position]).toEqual([false, 60, 0]);
  });

  test("gives its memory away if it is large, and takes other memory for what follows", () => {
    const batch = new Batch();
    batch.reserve(3);
    batch.bytes.fill(1, 0, 3);
    const at = batch.reserve(MIN_DETACHED_BYTES);
    batch.bytes.fill(7, at);
    // One large value makes the batch as large as it needs to be, with little room to spare.
    expect(batch.capacity).toBeLessThan(MIN_DETACHED_BYTES * 1.1);
    const page = batch.bytes.buffer;
    const content = batch.detach();
    expect([content.buffer === page, content.constructor, content.length]).toEqual([
      true,
      Uint8Array,
      MIN_DETACHED_BYTES + 3,
    ]);
    expect([batch.position, batch.capacity]).toEqual([0, 0]);
    batch.bytes.fill(9, batch.reserve(10));
    expect([content[2], content[3], content.at(-1)]).toEqual([1, 7, 7]);
  });

  test("is copied if more than half of its memory would be wasted", () => {
    const batch = new Batch(4 * MIN_DETACHED_BYTES);
    batch.reserve(MIN_DETACHED_BYTES);
    expect(batch.detach().buffer.byteLength).toBe(MIN_DETACHED_BYTES);
  });
});

describe("a batch", () => {
  test("allocates its first page, rounded up to a multiple of 8, with the first byte", () => {
    const batch = new Batch(61);
    expect(batch.capacity).toBe(0);
    batch.reserve(1);
    expect(batch.capacity).toBe(64);
    batch.reserve(63);
    expect(batch.capacity).toBe(64);
    batch.reserve(1);
    expect(batch.capacity).toBe(128);
    expect(new Batch().capacity).toBe(0);
  });

  test("keeps its bytes when it grows, and is aligned with zeros", () => {
    const batch = filled(63);
    batch.align();
    expect(batch.position).toBe(64);
    batch.align();
    expect(batch.position).toBe(64);
    batch.reserve(1);
    batch.bytes.fill(0xff, 64);
    batch.align();
    expect([...batch.take()]).toEqual([...numbers(0, 63), 0, 255, ...new Array(7).fill(0)]);
  });

  test("grows when alignment needs room behind the end of its page", () => {
    const batch = new Batch(8);
    batch.reserve(8);
    batch.reserve(0);
    batch.align();
    expect([batch.position, batch.capacity]).toEqual([8, 8]);
    const odd = filled(1, 8);
    odd.reserve(7);
    odd.reserve(1);
    odd.align();
    expect([odd.position, odd.capacity]).toEqual([16, 16]);
  });

  test("keeps its first page when it is cleared, and releases a page that it has grown to", () => {
    const batch = filled(10);
    const { buffer } = batch.bytes;
    batch.clear();
    expect([batch.position, batch.capacity]).toEqual([0, 64]);
    expect(batch.bytes.buffer).toBe(buffer);
    batch.reserve(65);
    batch.clear();
    expect([batch.position, batch.capacity]).toEqual([0, 0]);
  });

  test("refuses more bytes than a message may have", () => {
    const batch = new Batch(64);
    const refusal = thrown(() => batch.reserve(MAX_MESSAGE_BYTES + 1));
    expect(refusal.reason).toBe("it takes more than 2147483640 bytes");
    expect(refusal.isFinal).toBe(true);
    expect(batch.position).toBe(0);
  });

  test("reuses recycled pages, and forgets the oldest pages that were not recycled", () => {
    // No other batch has pages of this size.
    const batch = new Batch(4808);
    const taken = Array.from({ length: 5 }, () => {
      batch.reserve(1);
      return batch.take();
    });
    expect(new Set(taken.map(({ buffer }) => buffer)).size).toBe(5);
    const next = () => {
      batch.reserve(1);
      return batch.take().buffer;
    };
    batch.recycle(new Uint8Array(4808));
    batch.recycle(taken[0]!);
    expect(taken.map(({ buffer }) => buffer)).not.toContain(next());
    batch.recycle(taken[4]!);
    expect(next()).toBe(taken[4]!.buffer);
    batch.recycle(taken[3]!);
    // A page that is recycled twice is taken once.
    batch.recycle(taken[3]!);
    expect(next()).toBe(taken[3]!.buffer);
    expect(taken.map(({ buffer }) => buffer)).not.toContain(next());
  });

  test("keeps a small page when it is released", () => {
    const batch = filled(10);
    const { buffer } = batch.bytes;
    batch.release();
    expect([batch.position, batch.capacity]).toEqual([0, 64]);
    expect(batch.bytes.buffer).toBe(buffer);
  });

  test("gives its page to other batches when it is released", () => {
    const [batch, other] = [new Batch(4864), new Batch(4864)];
    batch.reserve(1);
    const { buffer } = batch.bytes;
    batch.release();
    expect([batch.position, batch.capacity]).toEqual([0, 0]);
    other.reserve(1);
    expect(other.bytes.buffer).toBe(buffer);
    // A page that has grown to another size is not reused, and later pages have the standard size.
    batch.reserve(4865);
    const grown = batch.bytes.buffer;
    batch.release();
    const third = new Batch(grown.byteLength);
    third.reserve(1);
    expect(third.bytes.buffer).not.toBe(grown);
    batch.reserve(1);
    expect(batch.capacity).toBe(STANDARD_PAGE_BYTES);
  });

  test("does not offer the page that it has grown to for reuse", () => {
    const batch = new Batch(4816);
    batch.reserve(4817);
    const grown = batch.take();
    expect(grown.length).toBe(4817);
    batch.recycle(grown);
    batch.reserve(1);
    // Later pages have the standard size.
    expect(batch.capacity).toBe(STANDARD_PAGE_BYTES);
    const other = new Batch(grown.buffer.byteLength);
    other.reserve(1);
    expect(other.bytes.buffer).not.toBe(grown.buffer);
  });

  test("keeps its page size when it fills a page exactly", () => {
    const batch = new Batch(4848);
    batch.reserve(4848);
    batch.take();
    batch.reserve(1);
    expect(batch.capacity).toBe(4848);
  });

  test("takes a returned standard page when it grows, and returns that page when it is recycled", () => {
    const page = newPage(STANDARD_PAGE_BYTES);
    returnPage(page);
    const batch = new Batch(64);
    batch.reserve(200_000);
    expect(batch.bytes.buffer).toBe(page.bytes.buffer);
    batch.recycle(batch.take());
    expect(takePage(STANDARD_PAGE_BYTES)).toBe(page);
  });

  test("recognizes up to four pages that were taken and not yet recycled", () => {
    const batch = new Batch(4856);
    const taken = Array.from({ length: 4 }, () => {
      batch.reserve(1);
      return batch.take();
    });
    batch.recycle(taken[0]!);
    batch.reserve(1);
    expect(batch.bytes.buffer).toBe(taken[0]!.buffer);
  });
});

describe("pages", () => {
  test("have the requested size, and one memory that all views share", () => {
    const page = newPage(24);
    page.doubles[1] = -1.5;
    page.words[0] = -2;
    expect(page.view.getFloat64(8, true)).toBe(-1.5);
    expect([...page.bytes.subarray(0, 4)]).toEqual([254, 255, 255, 255]);
    expect(page.plain.subarray(0, 4)).toEqual(Uint8Array.of(254, 255, 255, 255));
    expect([page.bytes, page.view, page.doubles, page.words, page.plain].map(({ byteLength }) => byteLength)).toEqual([
      24, 24, 24, 24, 24,
    ]);
  });

  test.each([4824, STANDARD_PAGE_BYTES])(
    "of %i bytes are taken again after their return, up to 16 MiB of them",
    (size) => {
      // Takes the pages that other tests have returned.
      const drained: Page[] = [];
      const most = Math.ceil(MAX_RECYCLED_BYTES / size);
      for (let i = 0; i < most + 1; i++) drained.push(takePage(size));
      const pages = Array.from({ length: most + 1 }, () => newPage(size));
      for (const page of pages) returnPage(page);
      const again = pages.map(() => takePage(size));
      expect(again.filter((page) => pages.includes(page))).toHaveLength(most);
      expect(again.at(-1)?.bytes.length).toBe(size);
      expect(pages).not.toContain(again.at(-1));
    },
  );

  test("are reused only for requests of the same size", () => {
    const page = newPage(4832);
    returnPage(page);
    expect(takePage(4840)).not.toBe(page);
    expect(takePage(4832)).toBe(page);
    expect(takePage(4832)).not.toBe(page);
  });
});

function thrown(run: () => unknown): CodecRefusal {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(CodecRefusal);
    return error as CodecRefusal;
  }
  throw new Error("nothing was thrown");
}
