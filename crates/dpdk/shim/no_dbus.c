/* For the static link only: libpcap can capture from the D-Bus, which would want libdbus and
 * libsystemd on every machine. A bus that cannot be reached takes their place. */
#include <stddef.h>

#define NOTHING(name) \
	void *name(void); \
	void *name(void) \
	{ \
		return NULL; \
	}

NOTHING(dbus_bus_add_match)
NOTHING(dbus_bus_get)
NOTHING(dbus_bus_register)
NOTHING(dbus_connection_flush)
NOTHING(dbus_connection_open)
NOTHING(dbus_connection_pop_message)
NOTHING(dbus_connection_read_write)
NOTHING(dbus_connection_send)
NOTHING(dbus_connection_set_max_received_size)
NOTHING(dbus_connection_unref)
NOTHING(dbus_error_free)
NOTHING(dbus_error_is_set)
NOTHING(dbus_free)
NOTHING(dbus_message_demarshal)
NOTHING(dbus_message_is_signal)
NOTHING(dbus_message_marshal)
NOTHING(dbus_message_unref)
