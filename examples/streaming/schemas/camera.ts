import type { Actor, Stream, Uint32 } from "viceroy/schema";

/** Takes pictures as fast as it can. */
export interface Camera extends Actor {
  /**
   * Pictures without end.
   * @concurrent
   */
  film(width: Uint32, height: Uint32): Stream<Picture>;
  /** How many pictures have been taken; and whether it is still filming. */
  status(): CameraStatus;
}

export interface Picture {
  number: Uint32;
  pixels: Uint8Array;
}

export interface CameraStatus {
  taken: Uint32;
  filming: boolean;
}
