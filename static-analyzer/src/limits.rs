//! Every bound of the analyzer, with unit and reason.

/// Callers above a write into an external store up to which its key is followed.
pub const KEY_CALLERS_MAX: usize = 8;

/// Instructions looked at to find what the keys of one write are made from.
pub const KEY_STEPS_MAX: usize = 2_000;

/// Steps of an access path; longer ones are cut and lose their identity. Five reach
/// most identifiers of real systems, nine also those of what is wrapped in requests
/// and proposals on its way.
pub const PATH_FIELDS_MAX: usize = 9;

/// Targets of one dispatched call; a wider one is a handler table, whose
/// targets are works of their own. Real class families that are inlined
/// (replicas, visitors) have fewer.
pub const DISPATCH_TARGETS_MAX: usize = 8;

/// Places kept per logged variable and method; more and it is no identifier.
pub const PLACES_MAX: usize = 4;

/// Nodes of one DAG; larger ones lose their order, but for what can follow directly
/// (`order/successors`). "Can be next" is quadratic in
/// optional nodes, and the model goes to every log node: 200 nodes are 20,000
/// edges at worst, and more lines than that no request prints in a fixed order.
pub const ORDER_NODES_MAX: usize = 200;

/// Top-level methods of which what can follow what is held before equal sets are shared: of all of
/// a large program at once it takes gigabytes, and nearly all of it is equal. More than there are
/// cores, so that all are at work.
pub const TOP_LEVELS_AT_ONCE: usize = 64;

/// Values of one method that tell its blocks apart by what they can be; further ones are
/// not followed. A method that remembers more is generated code.
pub const FLAGS_MAX: usize = 16;

/// Constants that those are compared with, two bits each.
pub const FLAG_CONSTANTS_MAX: usize = 15;

/// Blocks of one method that its flags tell apart, beyond one of each; with more none
/// are. What comes after a flag was set is seen twice, and nodes of the order as often.
pub const FLAG_STATES_MAX: usize = 256;

/// Calls of one block whose answers are told apart: each doubles what can come after it.
pub const FLAG_ANSWERS_MAX: usize = 4;

/// Callees of one site that are kept apart in a DAG; more become one node.
pub const ORDER_CALLEES_MAX: usize = 16;

/// Hand-offs of one pair whose identifiers are followed; further sites of the
/// same pair nearly always carry the same ones.
pub const HANDOFFS_PER_PAIR_MAX: usize = 8;

/// Identifiers of one value class on one end of a pair that may each be the
/// value handed over, when following the hand-off did not tell which.
pub const CLASS_MEMBERS_MAX: usize = 12;

/// Places that one thread remembers while it follows what the hand-offs of one sender after
/// the other carry; with more it forgets all, which costs time only. With what is known of
/// it, a place took up to 600 bytes in a program of 7,100 classes.
pub const CARRIED_PLACES_MAX: usize = 1 << 18;

/// Identifiers of receivers, each at a method that it came to, and steps from there, that one thread
/// remembers in the same way.
pub const CARRIED_ITEMS_MAX: usize = 1 << 21;

/// Call sites on all ways from a top-level method to one hand-off; with more,
/// nothing is said about what comes before it.
pub const WAYS_MAX: usize = 200;

/// Values looked at to find where a container was made.
pub const HOME_STEPS_MAX: usize = 200;

/// Places where a container can have been made; with more, it is named by what holds it.
pub const HOMES_MAX: usize = 8;

/// Methods looked at below the place where a message is received, to find the
/// unit that works on it.
pub const BELOW_METHODS_MAX: usize = 500;

/// Senders times receivers of one channel; above it, the channel is shared by
/// everybody and tells nothing.
pub const CHANNEL_HANDOFFS_MAX: usize = 20_000;

/// Hand-offs into times hand-offs out of one unit that only passes work on.
pub const LINK_HANDOFFS_MAX: usize = 20_000;

/// Units in a row that only pass work on.
pub const LINKS_IN_A_ROW_MAX: usize = 3;

/// Choices of one value; more become "any text". Enums of real systems have up
/// to about 100 constants, and those are not counted here.
pub const ALTERNATIVES_MAX: usize = 64;

/// Nodes of the unfolded term of one inlined call; larger ones become one value,
/// because nobody reads a template of pages and regexes grow with it.
pub const INLINED_TERM_NODES_MAX: u32 = 400;

/// Nodes of the unfolded term of one message; a larger message keeps its outer
/// parts, inner repetitions and choices become "any text".
pub const MESSAGE_TERM_NODES_MAX: u32 = 4000;

/// Calls looked into below one log point.
pub const INLINE_DEPTH_MAX: u32 = 12;

/// Targets of one virtual call that are all looked into; with more, the result
/// is an unknown value.
pub const TARGETS_MAX: usize = 12;

/// Instructions of a method that is still looked into.
pub const INLINED_BODY_MAX: usize = 3000;

/// Evaluation steps for one log point; what is not evaluated by then is "any
/// text". The largest real message needs about 11,000.
pub const EVALUATION_STEPS_MAX: u32 = 15_000;

/// Nested evaluations; bounds the stack.
pub const EVALUATION_DEPTH_MAX: u32 = 700;

/// Places that make exceptions of one class and are all evaluated; with more, their
/// messages are any text.
pub const EXCEPTION_SITES_MAX: usize = 16;

/// Writes of a text field that are all evaluated; with more, it is a variable.
pub const FIELD_WRITES_MAX: usize = 8;

/// Calls in calls that are followed to see whether one stores into an array; a
/// constructor that calls the next one, and that the next, is four of them.
pub const FILLERS_DEPTH_MAX: u32 = 6;

/// Calls in calls that are looked into for the place where an exception leaves
/// a builder half filled.
pub const THROWERS_DEPTH_MAX: u32 = 3;

/// Calls in calls that are followed to see whether one keeps a builder.
pub const KEEPERS_DEPTH_MAX: u32 = 3;

/// Callers for which a wrapper's log point is repeated. The audit logs of real
/// systems have about a hundred.
pub const WRAPPER_CALLERS_MAX: usize = 128;

/// The same where the log point says nothing of its own: a program's facade for logging has as
/// many callers as the program has log points.
pub const FACADE_CALLERS_MAX: usize = 1 << 15;

/// Calls of a lambda for which its log point is repeated.
pub const CLOSURE_CALLS_MAX: usize = 16;

/// Steps of a closure from where it is made to where it is called: parameters,
/// fields, casts, other closures.
pub const CLOSURE_DEPTH_MAX: u32 = 8;

/// Wrappers of wrappers that are looked through; audit logs go through five.
pub const WRAPPER_DEPTH_MAX: u32 = 6;

/// Templates of one log point; with more, choices stay inside one regex.
pub const TEMPLATES_MAX: usize = 16;

/// Stack of one analysis thread, bytes.
pub const STACK_BYTES: usize = 256 << 20;

/// Bytes of one class file. The largest seen in a real jar has 0.5 MB; a
/// constant pool of 65,535 long texts is no program.
pub const CLASS_BYTES_MAX: u64 = 4 << 20;

/// Bytes of a jar inside a jar.
pub const NESTED_JAR_BYTES_MAX: u64 = 512 << 20;

/// Bytes of all class files and nested jars of one class path together, after
/// decompression; they are held in memory.
pub const CLASS_PATH_BYTES_MAX: u64 = 4 << 30;

/// Files in one jar or folder. A JDK has 30,000 classes.
pub const JAR_ENTRIES_MAX: usize = 200_000;

/// How deep jars are looked for inside jars: `app.war` has its libraries at
/// depth 1, an `app.ear` with it at depth 2.
pub const JAR_DEPTH_MAX: usize = 3;

/// Basic blocks of one method, copies of `jsr` subroutines included. 65,535
/// bytes of code hold some 20,000 jumps.
pub const METHOD_BLOCKS_MAX: usize = 50_000;

/// Steps to lift one method: slots looked at where blocks meet, and rows of the
/// exception table looked at per block. The largest method of the measured
/// jars takes below a million; the bound keeps a hostile one below 0.1 s.
pub const METHOD_STEPS_MAX: u64 = 20_000_000;

/// Super-types walked for one question about the class hierarchy.
pub const SUPERS_MAX: usize = 100_000;

/// Targets of a handler table; wider dispatch (`toString` and the like) says
/// nothing and is dropped.
pub const TABLE_TARGETS_MAX: usize = 256;

/// Methods that call each other back of which the order of each is worked out, with the
/// calls of one another without order.
pub const RECURSION_MEMBERS_MAX: usize = 64;

/// Classes that one node of the value flow can hold before it counts as open.
pub const FLOW_TYPES_MAX: usize = 16;

/// Nested questions when a value is named (getter in getter, constructor in
/// conversion); deeper ones stay local values.
pub const BINDING_DEPTH_MAX: usize = 24;

/// Modified paths kept per method.
pub const MODIFIED_MAX: usize = 256;

/// Rounds over the methods of one recursive component.
pub const COMPONENT_ROUNDS_MAX: usize = 4;

/// Identifier uses lost on an edge before it can begin a request: two lines
/// more than chance.
pub const LOST_MIN: usize = 3;

/// Share of identifier uses lost on an edge that begins a request, in percent.
pub const LOST_PERCENT_MIN: usize = 50;

/// Top-level methods that can call another one; a method called by more is a
/// helper of all of them.
pub const HELPER_CALLERS_MAX: usize = 8;

/// Depth of nested annotation values for the parser that recurses into them;
/// classes that may exceed it go to the other parser. A level takes below 1 KB
/// of stack, a thread has 2 MB.
pub const ANNOTATION_DEPTH_MAX: usize = 256;

/// Recursive calls of one method that are joined in one frame.
pub const RECURSIVE_CALLS_MAX: usize = 8;

/// How often a message is evaluated again because a recursion was found.
pub const RECURSION_ROUNDS_MAX: usize = 4;

/// Top-level methods that can share a value class before it can count as one
/// that nearly all requests print; a small program has few kinds of requests.
pub const COMMON_MIN: usize = 60;

/// Places looked at on the way from a pool back to the names of its threads.
pub const POOL_PLACES_MAX: usize = 200;

/// Methods that store a pool in a field; with more, its threads have any name.
pub const POOL_WRITES_MAX: usize = 8;

/// Classes of the tasks that one call hands to a pool; with more, its threads can
/// run anything.
pub const TASK_CLASSES_MAX: usize = 64;

/// Calls on the way from a part of a structure to the dispatch that goes through its parts:
/// whoever takes more is at something else.
pub const RECURSION_CALLS_MAX: usize = 8;

/// Calls on the way of a parameter to the field that tells what it is.
pub const HANDED_ON_MAX: usize = 4;

/// Methods looked at on the way from a top-level method back to the tasks that run it; one
/// with more is anybody's.
pub const TASK_CALLERS_MAX: usize = 4096;

/// Calls below one that stands between log points that are looked at for what takes time.
/// Further down almost everything reads a file or asks somebody, somehow.
pub const SLOW_DEPTH_MAX: u8 = 4;

/// Slow calls of one method that a model holds, those first that usually take longest: it goes
/// to every log node.
pub const SLOW_CALLS_MAX: usize = 64;

/// Bytes of one file of texts: what people translate is smaller.
pub const RESOURCE_BYTES_MAX: u64 = 4 << 20;
