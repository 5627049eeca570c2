/** How messages go to actors whose arguments may be tensors of a mesh: those become tensors of the receivers. */
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { MessageEncoder } from "../../link/outbound/session.js";
import type { EndpointDescriptor } from "../../wire/descriptor.js";
import { protobufArguments } from "../../wire/protobuf-messages.js";
import type { Addressed, ArgumentsLayout, TensorSupport } from "../../wire/tensor-support.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { OutstandingCall } from "../reference/outstanding-call.js";
import type { Sent } from "../sent.js";
import type { AnswerSink } from "./answer-sink.js";
import type { CallOptions } from "./call-guard.js";
import { Dispatcher } from "./dispatcher.js";

export function createDispatcher(view: MeshView, index: number, options: CallOptions): Dispatcher {
  const { tensors } = view.descriptor.endpoints[index] as EndpointDescriptor;
  return tensors === undefined
    ? new Dispatcher(view, index, options)
    : new InterceptedDispatcher(view, index, options, tensors);
}

class InterceptedDispatcher extends Dispatcher {
  readonly #interceptor: TensorSupport;
  override readonly codec: MessageEncoder;

  constructor(view: MeshView, index: number, options: CallOptions, tensors: TensorSupport) {
    super(view, index, options);
    this.#interceptor = tensors;
    this.codec = tensors.sending(this.descriptor.args) as MessageEncoder;
  }

  override get protobuf(): MessageEncoder {
    return this.#interceptor.sending(protobufArguments(this.descriptor.args) as ArgumentsLayout) as MessageEncoder;
  }

  override callOne(
    args: readonly unknown[],
    rank: number,
    call: PendingCall,
    under: OutstandingCall,
  ): Error | undefined {
    const to = { label: this.label, procs: [this.view.target(rank).proc] };
    return this.#interceptor.lend(to, () => super.callOne(args, rank, call, under));
  }

  override callAll(args: readonly unknown[], sink: AnswerSink): Error | undefined {
    return this.#interceptor.lend(receiversOf(this), () => super.callAll(args, sink));
  }

  override cast(args: readonly unknown[]): Sent {
    return this.#interceptor.lend(receiversOf(this), () => super.cast(args));
  }
}

export function receiversOf({ label, view }: Dispatcher): Addressed {
  return { label, procs: view.procs };
}
