/** A link without a pipe that records the frames that are sent over it. */
import { HEADER_BYTES } from "../../runtime/link/frame/frame.js";
import type { Link } from "../../runtime/link/link.js";
import { Reader } from "../../runtime/wire/reader.js";
import { Writer } from "../../runtime/wire/writer.js";

export interface SentFrame {
  readonly kind: number;
  readonly flags: number;
  readonly slot: number;
  readonly a: number;
  readonly b: number;
  /** A reader that is positioned at the body. */
  readonly r: Reader;
  readonly blocks: readonly Uint8Array[];
}

export interface RecordedLink {
  readonly link: Link;
  /** Returns the frames since the last call. */
  sent(): SentFrame[];
}

export function recordedLink(peer?: bigint): RecordedLink {
  let frames: SentFrame[] = [];
  const writer = new Writer(256);
  const commit = (at: number): void => {
    const bytes = writer.copy(at);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const blocks = writer.blocks.slice();
    writer.restore(at, 0);
    const r = new Reader();
    r.reset(bytes, view, HEADER_BYTES, bytes.length, blocks);
    const word1 = view.getUint32(4, true);
    frames.push({
      kind: word1 & 0xff,
      flags: (word1 >>> 8) & 0xff,
      slot: word1 >>> 16,
      a: view.getUint32(8, true),
      b: view.getUint32(12, true),
      r,
      blocks,
    });
  };
  return {
    link: { outbox: { writer, commit }, peer } as unknown as Link,
    sent: () => {
      const all = frames;
      frames = [];
      return all;
    },
  };
}

/** Returns the header of a frame, for comparisons. */
export function headerOf({ kind, flags, slot, a, b }: SentFrame): readonly number[] {
  return [kind, flags, slot, a, b];
}
