/**
 * What came on lanes and cannot be handed on yet: kept in order, as far as its senders have credit, and handed on later.
 * Why it waits is the concern of whoever keeps it.
 */
import { Reader } from "../../wire/reader.js";
import type { Binding } from "../frame/binding.js";
import { copyBytes } from "../frame/frame.js";
import type { Destination, Lane } from "./lane.js";

type HeldFrame =
  | { readonly kind: "bind"; readonly lane: Lane; readonly binding: Binding }
  | { readonly kind: "cancel"; readonly lane: Lane; readonly call: number; readonly reason: number }
  | { readonly kind: "sync"; readonly lane: Lane; readonly sync: number; readonly casts: number }
  | { readonly kind: "closed"; readonly lane: Lane }
  | {
      readonly kind: "message";
      readonly lane: Lane;
      readonly slot: number;
      readonly call: number;
      readonly flags: number;
      readonly bytes: Uint8Array;
      readonly blocks: readonly Uint8Array[] | undefined;
      readonly size: number;
    };

export class HeldFrames {
  #frames: HeldFrame[] = [];

  bind(lane: Lane, binding: Binding): void {
    this.#frames.push({ kind: "bind", lane, binding });
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    const bytes = Buffer.from(copyBytes(r.bytes, r.position, r.end).buffer);
    this.#frames.push({ kind: "message", lane, slot, call, flags, bytes, blocks: r.blocks, size });
  }

  cancel(lane: Lane, call: number, reason: number): void {
    this.#frames.push({ kind: "cancel", lane, call, reason });
  }

  sync(lane: Lane, sync: number, casts: number): void {
    this.#frames.push({ kind: "sync", lane, sync, casts });
  }

  laneClosed(lane: Lane): void {
    this.#frames.push({ kind: "closed", lane });
  }

  /** Whether the message of a call is kept. */
  holdsCall(call: number): boolean {
    return this.#frames.some((frame) => frame.kind === "message" && frame.call === call);
  }

  /** The lanes that something was kept of. */
  lanes(): Lane[] {
    return [...new Set(this.#frames.map(({ lane }) => lane))];
  }

  /** Hands everything on, in order, and forgets it. `to`: where a lane leads, asked for each frame: it may change on the way. */
  release(to: (lane: Lane) => Destination): void {
    const r = new Reader();
    for (const frame of this.#frames.splice(0)) {
      const { lane } = frame;
      if (frame.kind === "bind") to(lane).bind(lane, frame.binding);
      else if (frame.kind === "cancel") to(lane).cancel(lane, frame.call, frame.reason);
      else if (frame.kind === "sync") lane.syncReceived(frame.sync, frame.casts);
      else if (frame.kind === "closed") to(lane).laneClosed(lane);
      else {
        const { bytes, slot, call, flags, blocks, size } = frame;
        r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length, blocks);
        to(lane).message(lane, slot, call, flags, r, size);
      }
    }
  }
}
