/** The actor that puts tensors from other procs into the rendezvous of its process, and the sender's side of the transfer. */
import type { TensorDeskMesh, TensorKey, TensorType } from "../../../generated/tensor.js";
import { TensorDeskActor } from "../../../generated/tensor.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { RdmaBuffer } from "../../rdma/index.js";
import { addon } from "../operation/addon.js";
import type { Tensor } from "../value/tensor.js";
import { tensorTypeOf } from "../value/tensor-type.js";
import { isDtype, typedArrayOver } from "../value/typed-array.js";
import { putTensors, takeTensors } from "./rendezvous.js";

/** Puts tensors from other procs into the rendezvous of this process, where workers and actors wait for them. */
export class TensorExchangeActor extends TensorDeskActor {
  fail(key: TensorKey, message: string): void {
    putTensors(key, { failure: new Error(message) });
  }

  async drop(key: TensorKey): Promise<void> {
    const result = await takeTensors(key);
    if ("tensors" in result) for (const tensor of result.tensors) tensor.dispose();
  }

  async pull(key: TensorKey, { dtype, shape }: TensorType, elements?: RdmaBuffer): Promise<void> {
    try {
      if (!isDtype(dtype)) throw new TypeError(`cannot read a tensor: there is no dtype "${dtype}"`);
      const data = typedArrayOver(dtype, new ArrayBuffer(elements?.size ?? 0));
      if (elements !== undefined) await elements.readInto(data);
      putTensors(key, { tensors: [addon().fromMemory(data, shape.map(Number), dtype) as Tensor] });
    } catch (error) {
      putTensors(key, { failure: error as Error });
      throw error;
    }
  }
}

/** Lets the exchange actor of another proc read a copy of a tensor. The copy is disposed of afterwards. */
export async function sendTensorCopy(copy: Promise<Tensor>, key: TensorKey, to: TensorDeskMesh<never>): Promise<void> {
  try {
    using tensor = await copy;
    const data = tensor.data();
    const type = tensorTypeOf(tensor);
    if (data.byteLength === 0) return void (await to.pull.callOne(key, type));
    await using buffer = RdmaBuffer.register(data, { access: "r" });
    await to.pull.callOne(key, type, buffer);
  } catch (error) {
    void to.fail.broadcast(key, errorMessage(error));
  }
}
