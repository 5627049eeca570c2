/** Loads the addon, and with it libtorch, on first use. */
import { stackAddonState } from "../../native/stack-addon.js";
import { type TensorAddon, tensorAddonState } from "../../native/tensor-addon.js";
import { callSiteNumber, locateCallSite } from "../call-site.js";
import { TensorError } from "../errors.js";

let tensorClass: (new () => object) | undefined;
let initializedAddon: TensorAddon | undefined;
let notifyRecorded: (recorder: number) => void = () => {};

/** Sets the class of tensors. Must be called before the addon is loaded. */
export function setTensorClass(made: new () => object): void {
  tensorClass = made;
}

/** Sets the function that is called with the number of a recorder whose commands must be sent. */
export function setRecordedListener(call: (recorder: number) => void): void {
  notifyRecorded = call;
}

/**
 * Returns the addon.
 *
 * @throws {TensorError} when there is none; the message says how to get it
 */
export function addon(): TensorAddon {
  if (initializedAddon !== undefined) return initializedAddon;
  const found = tensorAddonState();
  if (found.addon === undefined) {
    throw new TensorError(
      "ERR_TENSOR_ADDON",
      `tensors need the addon, and ${found.why}. Install libtorch (on Debian: apt-get install g++ libtorch-dev libopenblas0-openmp; or torch of PyPI in ./.venv), ` +
        "then run `npx viceroy setup --tensor`, or set VICEROY_TENSOR_ADDON to the path of an addon that was built elsewhere",
    );
  }
  if (tensorClass === undefined) throw new Error("cannot make tensors: there is no class of them");
  initializedAddon = found.addon;
  const { addCallSite } = found.addon;
  const site = () => callSiteNumber(addCallSite);
  const locateSite = () => locateCallSite(addCallSite, locateSite);
  const sampler = stackAddonState().addon?.sampler;
  found.addon.initialize(tensorClass, site, (recorder) => notifyRecorded(recorder), sampler, locateSite);
  return initializedAddon;
}
