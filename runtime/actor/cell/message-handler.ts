/** The handler of the messages of one endpoint in one layout. All actors of a class share it. Types only. */
import type { EndpointDescriptor } from "../../wire/descriptor.js";
import type { ArgumentsLayout } from "../../wire/endpoint-interceptor.js";
import type { MessageLayout } from "../../wire/message-layout.js";
import type { Method } from "./method.js";

export interface Handler {
  readonly endpoint: EndpointDescriptor;
  readonly method: Method;
  /** Whether the answer returns the message's credit, because the message leaves the mailbox when it is answered. */
  readonly creditWithAnswer: boolean;
  /** The layout of the messages: `FrameFlag.protobuf`, or 0 for the lockstep layout. */
  readonly layout: number;
  readonly args: ArgumentsLayout;
  /** The layout of answers and of items. Undefined if the endpoint returns void. */
  readonly result: MessageLayout<unknown> | undefined;
  /** The first word of the frame of an answer. */
  readonly reply: number;
  /** The first word of the frame of an item. */
  readonly item: number;
}
