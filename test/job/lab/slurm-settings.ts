/** The lines of slurm.conf of the clusters of the tests. */

interface ClusterAddresses {
  /** The address of the machine of the controller. */
  readonly login: string;
  /** The socket of munged. */
  readonly socket: string;
  readonly nodes: readonly { readonly name: string; readonly ip: string }[];
}

/** @param folder the folder for all files of the cluster */
export function slurmSettings(folder: string, { login, socket, nodes }: ClusterAddresses): string[] {
  const hardware = "Port=16818 CPUs=4 RealMemory=4096 Gres=gpu:2 Feature=fast,slow State=UNKNOWN";
  const names = nodes.map(({ name }) => name).join(",");
  return [
    "ClusterName=viceroy",
    `SlurmctldHost=login(${login})`,
    "SlurmUser=root",
    "SlurmdUser=root",
    "AuthType=auth/munge",
    `AuthInfo=socket=${socket}`,
    "CredType=cred/munge",
    "SlurmctldPort=16817",
    `StateSaveLocation=${folder}/state`,
    `SlurmdSpoolDir=${folder}/spool/%n`,
    `SlurmctldPidFile=${folder}/slurmctld.pid`,
    `SlurmdPidFile=${folder}/slurmd-%n.pid`,
    `SlurmctldLogFile=${folder}/log/slurmctld`,
    `SlurmdLogFile=${folder}/log/slurmd-%n`,
    "ProctrackType=proctrack/linuxproc",
    "TaskPlugin=task/none",
    "JobAcctGatherType=jobacct_gather/none",
    "AccountingStorageType=accounting_storage/none",
    "SelectType=select/cons_tres",
    "SelectTypeParameters=CR_CPU_Memory",
    "SchedulerType=sched/backfill",
    "MpiDefault=none",
    "ReturnToService=2",
    "SlurmdTimeout=10",
    "KillWait=2",
    "MinJobAge=300",
    "PreemptType=preempt/partition_prio",
    "PreemptMode=REQUEUE",
    "SlurmdParameters=config_overrides",
    "PlugStackConfig=/dev/null",
    "GresTypes=gpu",
    ...nodes.map(({ name, ip }) => `NodeName=${name} NodeAddr=${ip} NodeHostname=${name} ${hardware}`),
    `PartitionName=main Nodes=${names} Default=YES MaxTime=INFINITE State=UP PriorityTier=1`,
    `PartitionName=cheap Nodes=${names} MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL`,
    `PartitionName=graced Nodes=${names} MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL GraceTime=20`,
    `PartitionName=urgent Nodes=${names} MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF`,
  ];
}
