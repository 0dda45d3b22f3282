// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Process grid, halo exchange and sums for programs in C, and in every language that can call C.
///
/// Everything is an opaque handle. A `..._create` function makes it and stores it where its last argument points
/// (NULL on failure). The `..._destroy` function of the same name ends it; destroying NULL does nothing. A handle
/// shares what it needs of other handles, so handles may be destroyed in any order.
///
/// Functions return a `halocline_status`: 0, or the kind of failure. halocline_last_error() then has the error
/// message. A call that fails changes nothing that its documentation does not mention. No C++ exception leaves these
/// functions. A NULL handle, a NULL pointer for a result and an invalid face are INVALID_ARGUMENT on the calling
/// process alone, before any communication. Every other mistake in a collective call that makes an object is reported
/// on every rank.
///
/// A grid of n axes has 2 n faces. With axes counted from 0, the lower side of an axis is face 2 axis and the upper
/// side is face 2 axis + 1; halocline_face(axis, direction) returns this number. A set of faces is a word with a bit
/// for each.
///
/// Plain C99 and C++. Including this header needs neither the MPI header nor a C++ compiler. These functions do what
/// the C++ members of the same name do. The C++ headers, halo_exchange.hpp foremost, say more about each step.
/// docs/using-comm.md shows programs.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The status that a function returns.
typedef enum halocline_status {
  HALOCLINE_OK = 0,
  HALOCLINE_INVALID_ARGUMENT = 1,  ///< the caller gave an argument that cannot work
  HALOCLINE_FAILED = 2,            ///< time limit, lost neighbour, damaged message, MPI: do not use the object again
  HALOCLINE_OUT_OF_MEMORY = 3,     ///< this process has no more memory
  HALOCLINE_BAD_FILE = 4           ///< a file is missing, damaged or foreign, or cannot be written
} halocline_status;

/// The error message of the last call of this thread that failed; "" before the first. It is one sentence with what
/// was given, what was expected and what to do, in UTF-8. It stays until the thread's next failing call. Calls that
/// succeed leave it alone, so look at the returned status first. Each thread has its own.
const char* halocline_last_error(void);

/// Version of the library, "major.minor.patch".
const char* halocline_version(void);

/// Ends every process of the run with this exit status (MPI_Abort), and does not return. For a program that gives up
/// after an error on one rank only: `exit` ends MPI, which could wait for the other ranks. The library itself never
/// calls it. Collective: no.
void halocline_abort_all(int status);

// ---------------------------------------------------------------------------------------------------------------------
// Groups of processes

typedef struct halocline_communicator halocline_communicator;

/// All processes of the run. The first call starts MPI unless it runs already, with thread level SERIALIZED; MPI then
/// also ends when the process exits. Built without MPI: this process alone. Fails also where the machine lacks the
/// instruction set that the library was built for. Collective: the first call.
int halocline_world(halocline_communicator** group);

/// This process alone. Collective: no.
int halocline_self(halocline_communicator** group);

/// A group on a duplicate of an MPI communicator: `MPI_Comm_c2f(comm)` in C, the handle itself in Fortran
/// (`comm%MPI_VAL` with mpi_f08). MPI must be running. Collective: yes, over that communicator.
int halocline_from_fortran_handle(int handle, halocline_communicator** group);

int halocline_communicator_rank(const halocline_communicator* group, int* rank);
int halocline_communicator_size(const halocline_communicator* group, int* size);
/// Returns when every rank has called it. Collective: yes.
int halocline_communicator_barrier(const halocline_communicator* group);
/// How long barriers and the other collectives of this group, and of the grids made on it, wait for the other ranks.
/// Exchanges and sums have limits of their own. @param seconds  positive; infinity, as at first, for no limit; finite
/// on all ranks or on none. Collective: yes.
int halocline_communicator_set_time_limit(const halocline_communicator* group, double seconds);
int halocline_communicator_time_limit(const halocline_communicator* group, double* seconds);
int halocline_communicator_destroy(halocline_communicator* group);

// ---------------------------------------------------------------------------------------------------------------------
// Process grid

typedef struct halocline_grid halocline_grid;

/// Number of a face. @param direction  negative for the lower side, positive for the upper
static inline int halocline_face(int axis, int direction) { return 2 * axis + (direction > 0 ? 1 : 0); }
/// The face on the other side of the same axis.
static inline int halocline_opposite(int face) { return face ^ 1; }
/// A set of faces: bit f for face f.
typedef uint32_t halocline_face_mask;
/// The set of one face; join sets by |.
static inline halocline_face_mask halocline_mask(int face) { return (halocline_face_mask)1 << face; }
/// Every face that there is.
#define HALOCLINE_ALL_FACES UINT32_C(0xffffffff)

/// The processes of a group as points of a grid; ranks run with axis 0 fastest.
/// @param ndim      axes, at least 1; an exchange takes at most 16
/// @param dims      shape (ndim,): processes along each axis; their product is the size of the group
/// @param periodic  shape (ndim,): 0 where the axis ends; NULL: every axis is periodic
/// Collective: yes, with the same values on every rank.
int halocline_grid_create(const halocline_communicator* group, int ndim, const int* dims, const int* periodic,
                          halocline_grid** grid);

/// The same with a chosen rank at each place of the grid, for example from a map search.
/// @param ranks  shape (product of dims,): the rank at each place, places counted with axis 0 fastest; each rank
///               once. NULL for the plain order
/// Collective: yes, with the same values on every rank.
int halocline_grid_create_ordered(const halocline_communicator* group, int ndim, const int* dims, const int* periodic,
                                  const int* ranks, halocline_grid** grid);

int halocline_grid_ndim(const halocline_grid* grid, int* ndim);
int halocline_grid_rank(const halocline_grid* grid, int* rank);
int halocline_grid_size(const halocline_grid* grid, int* size);
int halocline_grid_dims(const halocline_grid* grid, int* dims);          ///< @param dims  shape (ndim,)
int halocline_grid_periodic(const halocline_grid* grid, int* periodic);  ///< @param periodic  shape (ndim,): 0 or 1
int halocline_grid_coords(const halocline_grid* grid, int* coords);      ///< of this rank. @param coords  shape (ndim,)
int halocline_grid_coords_of(const halocline_grid* grid, int rank, int* coords);
int halocline_grid_rank_of(const halocline_grid* grid, const int* coords, int* rank);
/// @param rank  of the process on the other side of the face; -1 at an open end
int halocline_grid_neighbour(const halocline_grid* grid, int face, int* rank);
int halocline_grid_destroy(halocline_grid* grid);

/// The grid of `ranks` processes that moves the least halo. All processes have the same local extents.
/// @param global_extents     shape (ndim,): points along each axis
/// @param required_multiple  shape (ndim,): of every local extent. NULL: 2 on every axis if any grid allows it, else
///                           2 on axis 0 and 1 on the others
/// @param dims               shape (ndim,): processes along each axis
/// @return INVALID_ARGUMENT also when no grid is possible; the error message names possible numbers of processes
/// Collective: no; a pure function.
int halocline_least_surface_grid(int ndim, const int64_t* global_extents, int ranks, const int64_t* required_multiple,
                                 int* dims);

// ---------------------------------------------------------------------------------------------------------------------
// Transports

typedef struct halocline_transports halocline_transports;

/// The transports that Halocline knows, in alphabetical order.
/// @param grid  NULL: whether each transport is available here, as far as one rank can tell without a grid.
///              Otherwise: whether it can serve this grid. Collective: yes with a grid, no without.
int halocline_transports_create(const halocline_grid* grid, halocline_transports** list);
int halocline_transports_count(const halocline_transports* list, int* count);
/// @param index      0 to count - 1
/// @param name       for halocline_exchange_create; both strings live as long as the list
/// @param available  0 or 1
/// @param reason     why it is not available; "" when it is
int halocline_transports_get(const halocline_transports* list, int index, const char** name, int* available,
                             const char** reason);
int halocline_transports_destroy(halocline_transports* list);

// ---------------------------------------------------------------------------------------------------------------------
// Halo exchange

typedef struct halocline_exchange halocline_exchange;

/// Options of an exchange, the same on every rank. Take halocline_default_options() and change single values.
typedef struct halocline_options {
  int buffering;      ///< buffers in each direction of a link, 1 or 2; default 2
  int checksum;       ///< not 0: every message carries a checksum, verified on arrival; default 0
  int threads;        ///< not 0: several threads will post or wait at once; default 0
  double time_limit;  ///< how long a wait lasts before it fails [s]; default 300
} halocline_options;

halocline_options halocline_default_options(void);

/// An exchange of one message per face and step, with every neighbour of the grid. The send buffer of a face arrives
/// in the neighbour's receive buffer of the opposite face.
/// @param face_bytes  shape (ndim,) [bytes]: message per face, for both faces of the axis; 0 leaves the axis out.
///                    Equal between neighbours along the axis
/// @param transport   a name of halocline_transports_get, "hybrid:NAME", or "auto" for the fastest of a short trial.
///                    NULL or "" for the usual choice: self for one process, shared_memory for one node, else hybrid
/// @param options     NULL for halocline_default_options()
/// Collective: yes.
int halocline_exchange_create(const halocline_grid* grid, const size_t* face_bytes, const char* transport,
                              const halocline_options* options, halocline_exchange** exchange);

/// An exchange of other, not larger, sizes through the same buffers, for exchanges that take turns. Use each one only
/// while no message of the other is under way. Its posts overwrite the messages that the other received.
/// Collective: yes.
int halocline_exchange_sharing_buffers(const halocline_exchange* exchange, const size_t* face_bytes,
                                       halocline_exchange** other);

/// The transport of the exchange, for example the one that "auto" chose. The name lives as long as the exchange.
int halocline_exchange_transport(const halocline_exchange* exchange, const char** name);
/// @param active  1 when messages go and come over this face: it has a neighbour, and its size is not 0
int halocline_exchange_active(const halocline_exchange* exchange, int face, int* active);

/// Where to pack the next message of this face. The place may change from step to step. Fill it between the wait that
/// ended this face's last step and the post; its contents before are unspecified.
/// @param buffer  64-byte aligned; NULL for a face that is not active
/// @param bytes   its length; may be NULL
int halocline_exchange_send_buffer(halocline_exchange* exchange, int face, void** buffer, size_t* bytes);

/// Starts the messages that leave through these faces, and expects messages at the opposite faces. Does not block
/// with two buffers. Every rank posts the same faces in the same order; faces that are not active are skipped.
/// @return INVALID_ARGUMENT, and nothing is posted, when the last message at an opposite face has not been waited
///         for, or two messages are under way and none has come back
int halocline_exchange_post(halocline_exchange* exchange, halocline_face_mask faces);

/// Returns when the message of the last post has arrived at this face; at once for a face that is not active.
/// @return INVALID_ARGUMENT when nothing is posted to this face or its message has been waited for. FAILED when
///         nothing came within the time limit, the sender has ended, or a wrong or damaged message came: the error
///         message names rank, face, step and transport, and the exchange cannot be used further
int halocline_exchange_wait(halocline_exchange* exchange, int face);
/// Waits for all of these faces that await a message.
int halocline_exchange_wait_all(halocline_exchange* exchange, halocline_face_mask faces);
/// Waits until a message has arrived at one of these faces.
/// @param face  that face; -1 when none of them awaits a message
int halocline_exchange_wait_any(halocline_exchange* exchange, halocline_face_mask faces, int* face);
/// @param arrived  1 when wait would not wait. Makes progress
int halocline_exchange_arrived(halocline_exchange* exchange, int face, int* arrived);
/// Returns when all messages posted through these faces have left their buffers. For timing only.
int halocline_exchange_wait_sent(halocline_exchange* exchange, halocline_face_mask faces);

/// The message that was waited for last at this face, readable until the next post of the face (with one buffer: until
/// release, or the next send_buffer or post of any face).
/// @param buffer  64-byte aligned; NULL for a face that is not active, or before the first wait
/// @param bytes   its length; may be NULL
int halocline_exchange_recv_buffer(const halocline_exchange* exchange, int face, const void** buffer, size_t* bytes);

/// Frees the messages that have been waited for at these faces, earlier than the next post would. Matters with one
/// buffer only.
int halocline_exchange_release(halocline_exchange* exchange, halocline_face_mask faces);

int halocline_exchange_set_time_limit(halocline_exchange* exchange, double seconds);  ///< positive [s]
int halocline_exchange_time_limit(const halocline_exchange* exchange, double* seconds);
/// @param steps  steps posted through this face so far, including the steps of exchanges that share the buffers
int halocline_exchange_steps(const halocline_exchange* exchange, int face, uint64_t* steps);
int halocline_exchange_destroy(halocline_exchange* exchange);

// ---------------------------------------------------------------------------------------------------------------------
// Sums over all processes

typedef struct halocline_reduction halocline_reduction;

/// Sums of 1 to 8 doubles over the ranks of a group, one at a time. The order of the additions is fixed: every rank
/// gets the same bits, every time. Collective: yes, and so are sum, begin and wait.
int halocline_reduction_create(const halocline_communicator* group, halocline_reduction** reduction);
/// Replaces the values by their sums over the ranks. @param count  1 to 8, the same on every rank
/// @return FAILED when a rank does not come within the time limit. The error message names it; the reduction cannot
///         be used further then
int halocline_reduction_sum(halocline_reduction* reduction, int count, double* values);
/// The same in two steps: begin takes the values, and wait writes the sums to the same place. `values` must stay
/// valid.
int halocline_reduction_begin(halocline_reduction* reduction, int count, double* values);
/// @param ready  1 when wait would not wait. INVALID_ARGUMENT when nothing has begun. Makes progress
int halocline_reduction_test(halocline_reduction* reduction, int* ready);
/// @return INVALID_ARGUMENT when nothing has begun
int halocline_reduction_wait(halocline_reduction* reduction);
int halocline_reduction_set_time_limit(halocline_reduction* reduction, double seconds);  ///< positive [s]; 300 at first
int halocline_reduction_time_limit(const halocline_reduction* reduction, double* seconds);
int halocline_reduction_destroy(halocline_reduction* reduction);

typedef struct halocline_exact_sum halocline_exact_sum;

/// A sum that is rounded once, at the end. Its value depends on the terms alone, not on their order, nor on how many
/// processes or threads share them. Empty at first. About 3 ns a term; 1104 bytes. One thread at a time.
int halocline_exact_sum_create(halocline_exact_sum** sum);
int halocline_exact_sum_clear(halocline_exact_sum* sum);
/// @param terms  shape (count,)
int halocline_exact_sum_add(halocline_exact_sum* sum, size_t count, const double* terms);
/// Adds a[i] b[i], not rounded. @param a, b  shape (count,)
int halocline_exact_sum_add_products(halocline_exact_sum* sum, size_t count, const double* a, const double* b);
/// Adds all terms of `other`, for example those of another thread.
int halocline_exact_sum_merge(halocline_exact_sum* sum, const halocline_exact_sum* other);
/// Replaces the sum by the sum over the terms of all ranks. Collective: yes.
int halocline_exact_sum_over(const halocline_communicator* group, halocline_exact_sum* sum);
/// @param value  the nearest double, ties to even
int halocline_exact_sum_value(const halocline_exact_sum* sum, double* value);
int halocline_exact_sum_destroy(halocline_exact_sum* sum);

#ifdef __cplusplus
}
#endif
