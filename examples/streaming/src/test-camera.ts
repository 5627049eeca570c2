import { CameraActor, type CameraStatus, type Picture } from "../generated/camera.js";

export class TestCamera extends CameraActor {
  #taken = 0;
  #filming = false;

  async *film(width: number, height: number): AsyncGenerator<Picture> {
    this.#filming = true;
    try {
      for (;;) {
        const number = ++this.#taken;
        yield { number, pixels: new Uint8Array(width * height).fill(number) };
      }
    } finally {
      // Runs when the viewer leaves the loop or ends. No further message is needed.
      this.#filming = false;
    }
  }

  status(): CameraStatus {
    return { taken: this.#taken, filming: this.#filming };
  }
}
