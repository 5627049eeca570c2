/** The actors of a context, as `JobContext` creates and finds them. */
import type { ArgsOf, SpawnableClass } from "../../index.js";
import type { ContextMember } from "../context/member.js";
import { planRun } from "../context/plan-run.js";
import { checkOptionNames } from "../kernel.js";
import type { ActorContext } from "./actor-context.js";
import type { ActorHandle } from "./actor-handle.js";
import { ownActorOptionNames } from "./actor-options.js";
import type { ActorOptions } from "./context-actor-options.js";
import { createActor } from "./create-actor.js";
import { findActor, stopActorByName } from "./find-actor.js";
import { MemberRefs } from "./member-refs.js";

const names = [...ownActorOptionNames, "resources", "environment", "placement"] as const;

export async function actorOf<C extends SpawnableClass>(
  member: ContextMember,
  actorClass: C,
  args: ArgsOf<C>,
  options: ActorOptions,
): Promise<ActorHandle<C>> {
  const what = "cannot create an actor";
  member.checkOpen(what);
  checkOptionNames(what, options, names);
  const { resources = {}, environment, placement, ...own } = options;
  const plan = planRun(
    {
      resources,
      ...(environment === undefined ? {} : { environment }),
      ...(placement === undefined ? {} : { placement }),
    },
    what,
  );
  if (own.lifetime === "detached" && placement !== undefined) {
    throw new TypeError(`${what}: a detached actor outlives the placement group of a context; leave placement out`);
  }
  return createActor(contextOf(member), actorClass, args, own, async () => {
    await plan.ready;
    const { resources: amounts, environment: prepared, bundle } = plan.nextClass();
    return {
      resources: { ...amounts },
      ...(prepared === undefined ? {} : { environment: prepared }),
      ...(bundle === undefined ? {} : { group: bundle.group, bundle: bundle.index, host: bundle.host }),
    };
  });
}

export async function getActor<C extends SpawnableClass>(
  member: ContextMember,
  actorClass: C,
  name: string,
): Promise<ActorHandle<C> | undefined> {
  member.checkOpen("cannot get an actor");
  return findActor(contextOf(member), actorClass, name);
}

export async function stopActor(member: ContextMember, name: string): Promise<boolean> {
  member.checkOpen("cannot stop an actor");
  return stopActorByName(contextOf(member), name);
}

const contexts = new WeakMap<ContextMember, ActorContext>();

function contextOf(member: ContextMember): ActorContext {
  let context = contexts.get(member);
  if (context === undefined) {
    context = { root: member.root(), refs: new MemberRefs(member), loadRegistries: member.loadRegistries };
    contexts.set(member, context);
  }
  return context;
}
