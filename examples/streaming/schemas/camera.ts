import type { Actor, Stream, Uint32 } from "viceroy/schema";

/** Takes pictures as fast as it can. */
export interface Camera extends Actor {
  /**
   * Yields pictures until the caller stops.
   * @concurrent
   */
  film(width: Uint32, height: Uint32): Stream<Picture>;
  /** Returns the number of pictures taken so far, and whether the camera is filming. */
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
