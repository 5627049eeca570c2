/** Thrown when a step of an image has failed, and would fail again. */
export class StepError extends Error {
  override readonly name = "StepError";

  /**
   * @param number the number of the step, from 1
   * @param step the text of the step
   * @param reason why, with what the step has printed
   */
  constructor(number: number, step: string, reason: string, options?: ErrorOptions) {
    super(`cannot apply step ${number} of the image, ${step}: ${reason}`, options);
  }
}
