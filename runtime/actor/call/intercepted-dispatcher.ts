/** The sending side of endpoints with an interceptor, which encodes the arguments of each message. */

import type { MessageEncoder } from "../../link/outbound/message-sender.js";
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { EndpointDescriptor } from "../../wire/descriptor.js";
import type {
  ArgumentsLayout,
  EndpointInterceptor,
  MessageReceivers,
  OutgoingMessage,
} from "../../wire/endpoint-interceptor.js";
import { protobufArguments } from "../../wire/protobuf-messages.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { OutstandingCall } from "../reference/outstanding-call.js";
import type { Sent } from "../sent.js";
import type { AnswerSink } from "./answer-sink.js";
import { Dispatcher, type DispatchOptions } from "./dispatcher.js";

/** Returns a dispatcher for the endpoint at `index` of the interface. */
export function createDispatcher(view: MeshView, index: number, options: DispatchOptions): Dispatcher {
  const { interceptor } = view.descriptor.endpoints[index] as EndpointDescriptor;
  return interceptor === undefined
    ? new Dispatcher(view, index, options)
    : new InterceptedDispatcher(view, index, options, interceptor);
}

class InterceptedDispatcher extends Dispatcher {
  readonly #interceptor: EndpointInterceptor;
  override readonly codec: MessageEncoder;
  /** The message that is being sent. Sending encodes synchronously. */
  #outgoing: OutgoingMessage | undefined;

  constructor(view: MeshView, index: number, options: DispatchOptions, interceptor: EndpointInterceptor) {
    super(view, index, options);
    this.#interceptor = interceptor;
    this.codec = this.#encoder(this.descriptor.args);
  }

  override get protobuf(): MessageEncoder {
    return this.#encoder(protobufArguments(this.descriptor.args) as ArgumentsLayout);
  }

  override callOne(
    args: readonly unknown[],
    rank: number,
    call: PendingCall,
    under: OutstandingCall,
  ): Error | undefined {
    const receivers = { label: this.label, procs: [this.view.target(rank).proc] };
    return this.#send(receivers, () => super.callOne(args, rank, call, under));
  }

  override callAll(args: readonly unknown[], sink: AnswerSink): Error | undefined {
    return this.#send(receiversOf(this), () => super.callAll(args, sink));
  }

  override cast(args: readonly unknown[]): Sent {
    return this.#send(receiversOf(this), () => super.cast(args));
  }

  #send<T>(receivers: MessageReceivers, send: () => T): T {
    // An argument's getter can call the same endpoint.
    const outer = this.#outgoing;
    const outgoing = this.#interceptor.beforeSend(receivers);
    this.#outgoing = outgoing;
    let sent: T;
    try {
      sent = send();
    } finally {
      this.#outgoing = outer;
    }
    if (!(sent instanceof Error)) outgoing.afterSend();
    return sent;
  }

  #encoder(layout: ArgumentsLayout): MessageEncoder {
    const encoder: ArgumentsLayout = {
      plain: layout,
      encodeInto: (w, args) => {
        if (this.#outgoing === undefined) layout.encodeInto(w, args);
        else this.#outgoing.encodeArguments(layout, w, args);
      },
      decodeFrom: (r) => layout.decodeFrom(r),
    };
    return encoder as MessageEncoder;
  }
}

/** Returns all actors of the dispatcher's mesh as receivers. */
export function receiversOf({ label, view }: Dispatcher): MessageReceivers {
  return { label, procs: view.procs };
}
