/** The addon. libtorch is loaded when it is first asked for, and then makes tensors of the class that it is given. */
import { type TensorAddon, tensorAddonState } from "../../native/tensor-addon.js";
import { callSiteNumber } from "../call-site.js";
import { TensorError } from "../errors.js";

let tensorClass: (new () => object) | undefined;
let initializedAddon: TensorAddon | undefined;
let notifyRecorded: () => void = () => {};

/** Which class tensors are instances of; before the addon is first asked for. */
export function setTensorClass(made: new () => object): void {
  tensorClass = made;
}

/** What is called whenever an operation is recorded. */
export function setRecordedListener(call: () => void): void {
  notifyRecorded = call;
}

/** @throws TensorError that says how to get it, if there is none */
export function addon(): TensorAddon {
  if (initializedAddon !== undefined) return initializedAddon;
  const found = tensorAddonState();
  if (found.addon === undefined) {
    throw new TensorError(
      "ERR_TENSOR_ADDON",
      `tensors need the addon, and ${found.why}. Install libtorch (on Debian: apt-get install g++ libtorch-dev libopenblas0-openmp; or torch of PyPI in ./.venv), ` +
        "then run `npx viceroy setup --tensor`",
    );
  }
  if (tensorClass === undefined) throw new Error("cannot make tensors: there is no class of them");
  found.addon.initialize(tensorClass, () => {
    notifyRecorded();
    return callSiteNumber(found.addon!.addCallSite);
  });
  initializedAddon = found.addon;
  return initializedAddon;
}
