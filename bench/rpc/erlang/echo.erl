%% Erlang as a peer of bench:rpc: `gen_server:call` between two nodes of this machine, over Erlang's distribution.
%% Run by measure.js: `-s echo serve` in one node, `-run echo measure <node> <milliseconds…>` in another.
-module(echo).
-behaviour(gen_server).
-export([serve/0, measure/1]).
-export([init/1, handle_call/3, handle_cast/2]).

serve() ->
    {ok, _} = gen_server:start({local, echo}, ?MODULE, [], []),
    io:format("ready~n"),
    %% Ends with its parent process.
    spawn(fun() -> eof = io:get_line(""), halt() end).

init([]) -> {ok, none}.
handle_call(Record, _From, State) -> {reply, Record, State}.
handle_cast(_, State) -> {noreply, State}.

%% The record of records.js.
record(V) ->
    Whole = #{id => 40000 + V,
              name => text("worker-~b", [10000 + V * 37]),
              email => text("worker~b@cluster-~b.example.com", [V, V rem 4]),
              createdAt => 1.7e12 + V * 1234567,
              score => 0.123456789 * (V + 1),
              level => V - 5,
              active => V rem 2 =:= 0,
              status => V rem 3,
              path => text("/srv/cluster/~b/rank/~b/log.txt", [V, V * 3]),
              origin => #{lat => 52.1 + V, lon => 4.9 - V},
              items => [#{sku => text("SKU-~b", [V * 100 + I]), qty => I * 3 + 1, price => 9.99 * (I + 1) + V}
                        || I <- lists:seq(0, 3)]},
    Noted = case V rem 2 of 1 -> Whole#{note => text("note number ~b", [V])}; 0 -> Whole end,
    case V rem 4 of 0 -> Noted#{parent => V + 7}; _ -> Noted end.

text(Format, Values) -> iolist_to_binary(io_lib:format(Format, Values)).

measure([Node, WarmUp, Window, Sequential]) ->
    Server = {echo, list_to_atom(Node)},
    Records = list_to_tuple([record(V) || V <- lists:seq(0, 15)]),
    [Record = gen_server:call(Server, Record) || Record <- tuple_to_list(Records)],
    Warm = list_to_integer(WarmUp),
    in_flight(Server, Records, 64, Warm),
    in_flight(Server, Records, 1024, Warm),
    one_by_one(Server, Records, min(Warm, 500)),
    Latencies = lists:sort(one_by_one(Server, Records, list_to_integer(Sequential))),
    {K64, Client, Served} = in_flight(Server, Records, 64, list_to_integer(Window)),
    {K1024, _, _} = in_flight(Server, Records, 1024, list_to_integer(Window)),
    io:format("{\"p50\":~f,\"p99\":~f,\"k64\":~f,\"k1024\":~f,\"cpuClient\":~f,\"cpuServer\":~f,\"cpu\":~f}~n",
              [quantile(Latencies, 0.5) / 1000, quantile(Latencies, 0.99) / 1000, K64, K1024, Client, Served, Client + Served]),
    halt().

quantile(Sorted, Q) -> lists:nth(max(1, ceil(Q * length(Sorted))), Sorted) * 1.0.

%% Returns the nanoseconds of each call.
one_by_one(Server, Records, Milliseconds) ->
    Now = erlang:monotonic_time(nanosecond),
    one_by_one(Server, Records, 0, Now, Now + Milliseconds * 1000000, []).

one_by_one(_, _, _, Before, End, Latencies) when Before >= End -> Latencies;
one_by_one(Server, Records, I, Before, End, Latencies) ->
    gen_server:call(Server, element(1 + (I band 15), Records)),
    After = erlang:monotonic_time(nanosecond),
    one_by_one(Server, Records, I + 1, After, End, [After - Before | Latencies]).

%% Returns thousands of calls per second, and microseconds of processor time per call on both sides.
in_flight({_, Node} = Server, Records, Width, Milliseconds) ->
    Begin = erlang:monotonic_time(nanosecond),
    End = Begin + Milliseconds * 1000000,
    {Here, There} = {used(), rpc:call(Node, erlang, statistics, [runtime])},
    Self = self(),
    [spawn_link(fun() -> Self ! {calls, repeat(Server, Records, I, End, 0)} end) || I <- lists:seq(1, Width)],
    Calls = lists:sum([receive {calls, N} -> N end || _ <- lists:seq(1, Width)]),
    Took = erlang:monotonic_time(nanosecond) - Begin,
    {Here2, There2} = {used(), rpc:call(Node, erlang, statistics, [runtime])},
    {Calls * 1.0e6 / Took, (Here2 - Here) * 1000.0 / Calls, (element(1, There2) - element(1, There)) * 1000.0 / Calls}.

used() -> element(1, statistics(runtime)).

repeat(Server, Records, I, End, Calls) ->
    case erlang:monotonic_time(nanosecond) >= End of
        true -> Calls;
        false ->
            gen_server:call(Server, element(1 + (I band 15), Records)),
            repeat(Server, Records, I + 1, End, Calls + 1)
    end.
