/**
 * Guests: processes that have got references of a context in messages of actors, and are not a part of the context. A guest borrows values
 * and reads them, as the members of the context do. It starts no tasks, and nobody borrows from it.
 */
import type { TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { thisProc } from "../../index.js";
import { ContextMember } from "../context/member.js";
import { ObjectLostError } from "../errors.js";
import { callForAnswer, currentCell, mainRoot } from "../kernel.js";
import { addMember, memberOf, ResultOwner, removeMember } from "../refs/owner-actor.js";
import { GuestStores } from "./guest-stores.js";

interface Guest {
  readonly member: ContextMember;
  /** The processes whose values this one has borrowed, which are watched. */
  readonly owners: Set<bigint>;
  readonly stores: GuestStores;
  readonly end: () => void;
}

/** The contexts whose guest this thread is, by their ids. */
const guests = new Map<string, Guest>();

/** Returns the part of a context in this process. A process that is no part of it becomes a guest. */
export function memberFor(context: string, owner: TaskOwnerMesh<never>): ContextMember {
  const own = memberOf(context, currentCell().proc.id) ?? memberOf(context, mainRoot().proc.id);
  if (own !== undefined) return own;
  let guest = guests.get(context);
  if (guest === undefined) {
    guest = makeGuest(context);
    guests.set(context, guest);
  }
  watchOwner(guest, owner);
  return guest.member;
}

/** The root of this process has the guest, which outlives the actor that has received the first reference. */
function makeGuest(context: string): Guest {
  const name = `guest of ${context}`;
  let owner: TaskOwnerMesh<never> | undefined;
  const member: ContextMember = new ContextMember({
    id: context,
    host: undefined,
    cell: mainRoot(),
    objects: undefined,
    storeFor: (owner, failed) => stores.find(owner, failed),
    owner: () => {
      if (owner === undefined)
        member.inTurn(() => {
          owner = thisProc().spawn(`task results ${context}`, ResultOwner, name);
        });
      return owner!;
    },
    root: () => refuse(context),
    loadRegistries: async () => refuse(context),
    makeSubmitter: () => refuse(context),
  });
  const stores = new GuestStores(context, (body) => member.inTurn(body));
  addMember(member, name);
  const end = (): void => {
    guests.delete(context);
    member.close("no process of it is left whose values this process has");
    removeMember(member, name);
    if (owner !== undefined) member.inTurn(() => void owner!.stop());
    void stores.close();
  };
  return { member, owners: new Set(), stores, end };
}

function refuse(context: string): never {
  throw new Error(
    `cannot start tasks of context ${context}: this process has only got references of it; start them in the program that has opened it`,
  );
}

/** Drops the values of a process when it has closed the context, or has ended. */
function watchOwner({ member, owners, stores, end }: Guest, owner: TaskOwnerMesh<never>): void {
  const proc = procsOf(owner)[0]!;
  if (owners.has(proc)) return;
  owners.add(proc);
  const left = (why: string): void => {
    owners.delete(proc);
    stores.ownerLeft(proc);
    member.refs.ownerLeft(proc, new ObjectLostError(`the value is lost: ${why}`));
    if (owners.size === 0) end();
  };
  // The call is answered when the context is closed. Until then it keeps this process alive, if that is a program.
  member.inTurn(() =>
    callForAnswer(owner.untilLeft, [], {
      answered: () => left(`the context ${member.id} was closed`),
      failed: (error) => left(`the process that had it has ended: ${error.message}`),
    }),
  );
}
