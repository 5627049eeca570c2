/**
 * A buffer for frames of lanes that cannot be delivered yet. It keeps the frames in order, and delivers them later. The
 * credit of the senders bounds its size. The owner of the buffer knows why the frames wait.
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

  /** Returns whether the message of a call is in the buffer. */
  holdsCall(call: number): boolean {
    return this.#frames.some((frame) => frame.kind === "message" && frame.call === call);
  }

  /** Returns the lanes that have frames in the buffer. */
  lanes(): Lane[] {
    return [...new Set(this.#frames.map(({ lane }) => lane))];
  }

  /**
   * Delivers all frames, in order, and empties the buffer.
   * @param to returns the destination of a lane; it is called for each frame, because delivering a frame can change the
   * destination
   */
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
