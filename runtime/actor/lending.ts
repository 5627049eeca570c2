/** How messages go to actors whose arguments may be tensors of a mesh: those become tensors of the receivers. */
import type { PendingCall } from "../link/calls.js";
import type { Encoder } from "../link/session.js";
import type { EndpointDescriptor } from "../wire/descriptor.js";
import { protobufArguments } from "../wire/protobuf-messages.js";
import type { Addressed, ArgumentsLayout, TensorSupport } from "../wire/tensor-support.js";
import { type CallSink, Dispatcher } from "./dispatch.js";
import type { CallOptions } from "./guard.js";
import type { Sent } from "./sent.js";
import type { UnderWay } from "./turn.js";
import type { MeshView } from "./view.js";

export function dispatcherFor(view: MeshView, index: number, options: CallOptions): Dispatcher {
  const { tensors } = view.descriptor.endpoints[index] as EndpointDescriptor;
  return tensors === undefined
    ? new Dispatcher(view, index, options)
    : new LendingDispatcher(view, index, options, tensors);
}

class LendingDispatcher extends Dispatcher {
  readonly #tensors: TensorSupport;
  override readonly codec: Encoder;

  constructor(view: MeshView, index: number, options: CallOptions, tensors: TensorSupport) {
    super(view, index, options);
    this.#tensors = tensors;
    this.codec = tensors.sending(this.descriptor.args) as Encoder;
  }

  override get protobuf(): Encoder {
    return this.#tensors.sending(protobufArguments(this.descriptor.args) as ArgumentsLayout) as Encoder;
  }

  override callOne(args: readonly unknown[], rank: number, call: PendingCall, under: UnderWay): Error | undefined {
    const to = { label: this.label, procs: [this.view.target(rank).proc] };
    return this.#tensors.lend(to, () => super.callOne(args, rank, call, under));
  }

  override callAll(args: readonly unknown[], sink: CallSink): Error | undefined {
    return this.#tensors.lend(addressed(this), () => super.callAll(args, sink));
  }

  override cast(args: readonly unknown[]): Sent {
    return this.#tensors.lend(addressed(this), () => super.cast(args));
  }
}

export function addressed({ label, view }: Dispatcher): Addressed {
  return { label, procs: view.procs };
}
