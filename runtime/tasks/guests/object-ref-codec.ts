/** References in messages of actors: `ObjectRef<T>` of a schema. Importing this file enables messages to contain them. */

import { SentReferenceCodec } from "../../../generated/sent-reference.js";
import { ObjectReferenceCodec } from "../../../generated/tasks.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { type Codec, codec, extendWireEnvironment, type Reader, type Writer } from "../../codegen/v1/index.js";
import type { ContextMember } from "../context/member.js";
import { PortTarget, portsRead } from "../kernel.js";
import { ObjectRef, recordOf } from "../refs/object-ref.js";
import { memberFor } from "./guest-member.js";
import { keepUntilReceived } from "./receipt.js";

extendWireEnvironment({ writeObjectRef, readObjectRef });

/** @hidden Returns the codec of references, for generated code. */
export function objectRefCodec<T>(element: () => Codec<T>): Codec<ObjectRef<T>> {
  return codec.objectRef<ObjectRef<T>>(element as () => Codec<unknown>);
}

function writeObjectRef(w: Writer, ref: unknown): void {
  if (!(ref instanceof ObjectRef)) {
    throw new TypeError(`expected an ObjectRef, as context.put returns it, got ${describeValue(ref)}`);
  }
  const { member } = recordOf(ref);
  if (member.closed !== undefined) {
    throw new TypeError(`${ref.label} belongs to the context ${member.id}, which is closed: ${member.closed}`);
  }
  const reference = member.refs.write(ref);
  // Values and results of tasks keep the references in them.
  const kept = member.refs.isCollecting ? undefined : keepUntilReceived(ref);
  w.append(SentReferenceCodec, {
    reference,
    receipt: kept?.number ?? 0n,
    proc: kept?.proc ?? 0n,
    location: kept?.location ?? "",
  });
}

function readObjectRef(r: Reader): ObjectRef<unknown> {
  const { reference, receipt, proc, location } = r.next(SentReferenceCodec);
  const { context, owner } = ObjectReferenceCodec.decode(reference);
  const { member, ref } = apart(() => {
    const member = memberFor(context, owner);
    return { member, ref: member.refs.read(reference) };
  });
  if (receipt !== 0n) {
    const target = new PortTarget(proc, receipt, codec.boolean.fingerprint, location);
    portsRead.push({ target, received: (release) => releaseWhenBorrowed(member, ref, release) });
  }
  return ref;
}

/** Runs code that sends messages and spawns actors while a message is decoded, whose ports are noted until it is. */
function apart<T>(body: () => T): T {
  const before = portsRead.splice(0);
  try {
    return body();
  } finally {
    portsRead.splice(0, portsRead.length, ...before);
  }
}

/** The sender keeps the reference until the owner knows that this process has it. */
function releaseWhenBorrowed(member: ContextMember, ref: ObjectRef<unknown>, release: () => void): void {
  const { remote } = recordOf(ref);
  if (remote === undefined) {
    queueMicrotask(release);
    return;
  }
  const { owner, id } = remote;
  member.inTurn(() => void owner.borrow.callOne(id, member.ownerMesh, false).then(release, release));
}
